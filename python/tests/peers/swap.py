"""A plugin of pytest that puts laneval in the place of other tools, as `LANEVAL_SWAP` says."""

import os

if os.environ.get("LANEVAL_SWAP") == "pytrec_eval":
    import laneval.compat.pytrec_eval

    laneval.compat.pytrec_eval.install()
elif os.environ.get("LANEVAL_SWAP") == "provider":
    import laneval.compat.ir_measures

    laneval.compat.ir_measures.install(measures="all")
