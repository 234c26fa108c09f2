//! `--relevant-from retrieved`: relevant documents that a run did not retrieve are not missed.

use crate::folder::{Folder, Ran};

fn folder() -> Folder {
    let folder = Folder::empty();
    folder.put("qrels", "q 0 a 3\nq 0 b 1\nq 0 c 2\nq 0 d 1\nq 0 e 0\nr 0 a 1\n");
    folder.put("run", "q Q0 b 1 3 t\nq Q0 u 2 2 t\nq Q0 c 3 1 t\n");
    folder
}

#[track_caller]
fn prints(folder: &Folder, args: &str) -> String {
    let Ran { out, err, code } = folder.run(args);
    assert_eq!(code, 0, "{args}: {err}");
    out
}

#[test]
fn values_are_those_of_programs_that_see_lists() {
    let folder = folder();
    let scores = |args: &str| {
        prints(&folder, &format!("eval qrels run --queries common --format csv {args}"))
    };
    // Of scikit-learn 1.9.1: ndcg_score of the three documents is 0.7601875334318685.
    let known = scores("-m nDCG@3,R@3,NumRel --relevant-from retrieved");
    assert!(
        known.contains("nDCG@3,mean,0.760187533431868") && known.contains("R@3,mean,1\n"),
        "{known}"
    );
    assert!(known.contains("NumRel,sum,2\n"), "{known}");
    let judged = scores("-m nDCG@3,R@3,NumRel --relevant-from judged");
    assert_eq!(judged, scores("-m nDCG@3,R@3,NumRel"));
    assert!(judged.contains("R@3,mean,0.5\n"), "{judged}");
}

#[test]
fn it_is_told_in_json_summaries_and_explanations() {
    let folder = folder();
    let json = prints(
        &folder,
        "eval qrels run -m AP --relevant-from retrieved --format json --quiet --partial p",
    );
    assert!(json.contains("\"relevant_from\": \"retrieved\""), "{json}");
    assert!(
        !prints(&folder, "eval qrels run -m AP --format json --quiet --partial q")
            .contains("relevant_from")
    );
    let Ran { err, code, .. } = folder.run("merge p q");
    assert_eq!(code, 2);
    assert!(
        err.contains("relevant documents: retrieved and judged") || err.contains("--relevant-from"),
        "{err}"
    );
    let merged = prints(&folder, "merge p --format json");
    assert!(merged.contains("\"relevant_from\": \"retrieved\""), "{merged}");
    let show = prints(
        &folder,
        "show qrels run --query q -m R@3,AP --relevant-from retrieved --format json",
    );
    assert!(
        show.contains("\"relevant_from\": \"retrieved\"")
            && show.contains("\"AP\": 0.8333333333333333"),
        "{show}"
    );
}

#[test]
fn measures_over_facets_and_cuts_of_ties_are_refused() {
    let folder = folder();
    folder.put("subtopics", "q 1 a 1\nq 2 b 1\n");
    for (args, words) in [
        (
            "eval subtopics run -m StRecall@3 --relevant-from retrieved",
            "StRecall@3 is over judgments by",
        ),
        (
            "eval qrels run -m AP --relevant-from retrieved --ties average -M 2",
            "relevant_from=retrieved",
        ),
        ("eval qrels run --relevant-from some", "possible values: judged, retrieved"),
    ] {
        let Ran { out, err, code } = folder.run(args);
        assert_eq!((code, out.as_str()), (2, ""), "{args}: {err}");
        assert!(err.contains(words), "{args}: {err}");
    }
}
