//! The join of qrels with runs that are texts: `Join::files`, `Join::runs` and `Join::picked`.

use std::sync::Arc;

use rayon::prelude::*;

use super::{
    picked::{self, FoundRankings, PickedRun},
    picks::{PickedQueries, PickedQuery},
    qrels::Qrels,
    run::{self, JoinContext},
    validate::{check_stdin_once, finish, without_problems},
};
use crate::bytes::{
    hash::Seed,
    input::{Input, RunInput, run_names},
};
use crate::columns::CheckedColumns;
use crate::error::{Error, Problems, Result};
use crate::format::{
    AlignedQrels, RowLayout, detect::foreign::ForeignFormat, tables::with_records,
};
use crate::judged_by::FacetKind;
use crate::lines::{
    chunks::{ChunkSize, CutRule},
    diagnostics::RunProblems,
    shape::Role,
};
use crate::matrix::{LabelMatrix, StagedRun};
use crate::record::{
    columns::{ColumnSource, PieceSize},
    reader::{ReadContext, RowSource, TextSource},
};
use crate::settings::Join;
use crate::text::{OpenText, Purpose, TextBody};

impl Join {
    /// Reads qrels and runs in any [`InputFormat`], recognised by the content, and joins them to a
    /// matrix. [`Join::runs`] joins given qrels with further runs.
    ///
    /// The lines of a run may be in any order. A run is read fastest, and without memory for each
    /// line, if the lines of a query are together. Queries that the qrels lack are counted
    /// ([`RunInfo::ignored`]); a query of the qrels that a run lacks has depth 0 in the run. A run
    /// without a name of its own ([`RunInput::named`]) is named by as many of the last components
    /// of its path as distinguish it; paths that are equal throughout are numbered.
    ///
    /// # Errors
    /// An input that cannot be read or decompressed; the problems of all lines of all inputs, among
    /// them documents that are twice in a ranking or judged twice (under the dialects of trec_eval
    /// they are [`Error::Duplicate`]); an input without lines; a run without a query of the qrels;
    /// two runs with an equal given name.
    ///
    /// [`RunInfo::ignored`]: crate::matrix::RunInfo::ignored
    pub fn files(
        &self,
        qrels: impl Into<Input>,
        runs: impl IntoIterator<Item = impl Into<RunInput>>,
    ) -> Result<LabelMatrix> {
        let runs = runs.into_iter().map(Into::into).collect();
        self.files_in_chunks(qrels.into(), runs, ChunkSize::default(), Seed::random())
    }

    pub(crate) fn files_in_chunks(
        &self,
        qrels: Input,
        runs: Vec<RunInput>,
        size: ChunkSize,
        seed: Seed,
    ) -> Result<LabelMatrix> {
        if self.judged_by == Some(FacetKind::Span) {
            check_stdin_once(Some(&qrels), &runs)?;
            return self.passage_runs(&self.judged_passages(qrels)?, runs);
        }
        self.check_units()?;
        self.check_qrels_units()?;
        let names = run_names(&runs)?;
        check_stdin_once(Some(&qrels), &runs)?;
        if self.judged_by.is_some() && qrels.is_stream() {
            return self.runs(&self.qrels(qrels)?, runs);
        }
        let (qrels, form) = self.judgments_text(qrels)?;
        let mut runs = self.open(runs, names, form.as_ref().ok().and_then(RowLayout::partner))?;
        let swapped = swapped_name(&runs);
        let context = ReadContext { seed, size, watch: self.watch() };
        let (qrels, problems) = self.qrels_of(&qrels, &form, swapped, context)?;
        let (_, staged) = read_runs(&mut runs, &self.context(&qrels), problems, context)?;
        // Unmapping a large text takes a while.
        rayon::join(|| finish(qrels.into_matrix(self), staged), || drop(runs)).0
    }

    /// Reads runs from texts, and joins them with qrels that were read before to a matrix.
    ///
    /// ```
    /// use laneval::{Input, Join, Qrels, RunInput};
    /// let qrels = Qrels::new([("q1", "d1", 1.0), ("q1", "d2", 0.0)])?;
    /// for name in ["bm25", "splade"] {
    ///     let text = Input::Bytes { name: name.into(), bytes: "q1 Q0 d1 1 2.5 tag\n".into() };
    ///     let matrix = Join::default().runs(&qrels, [RunInput::named(name, text)])?;
    ///     assert_eq!(matrix.runs()[0].name, name);
    /// }
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Join::files`]; qrels read in another dialect.
    pub fn runs(
        &self,
        qrels: &Qrels,
        runs: impl IntoIterator<Item = impl Into<RunInput>>,
    ) -> Result<LabelMatrix> {
        self.check_dialect(qrels)?;
        let runs: Vec<RunInput> = runs.into_iter().map(Into::into).collect();
        if qrels.passages.is_some() {
            return self.passage_runs(qrels, runs);
        }
        self.check_units()?;
        let names = run_names(&runs)?;
        check_stdin_once(None, &runs)?;
        let mut runs = self.open(runs, names, qrels.aligned())?;
        let (seed, size) = (qrels.seed(), ChunkSize::default());
        let context = ReadContext { seed, size, watch: self.watch() };
        let joining = &self.context(qrels);
        let (_, staged) = read_runs(&mut runs, joining, Problems::default(), context)?;
        rayon::join(|| finish(qrels.matrix(self), staged), || drop(runs)).0
    }

    /// Reads qrels and runs as [`Join::files`] does, and keeps a few picked queries, with their
    /// documents. A run that comes as a stream is not held in memory.
    ///
    /// # Errors
    /// As [`Join::files`], except for documents that are twice in the ranking of another query.
    #[doc(hidden)]
    pub fn picked(
        &self,
        qrels: Input,
        runs: Vec<RunInput>,
        queries: &[Vec<u8>],
    ) -> Result<PickedQueries> {
        self.picked_in_chunks(qrels, runs, queries, ChunkSize::default())
    }

    pub(super) fn picked_in_chunks(
        &self,
        qrels: Input,
        runs: Vec<RunInput>,
        queries: &[Vec<u8>],
        size: ChunkSize,
    ) -> Result<PickedQueries> {
        if self.judged_by == Some(FacetKind::Span) {
            return self.picked_passages(qrels, runs, queries);
        }
        self.check_units()?;
        let names = run_names(&runs)?;
        check_stdin_once(Some(&qrels), &runs)?;
        let (qrels, form) = self.judgments_text(qrels)?;
        let partner = form.as_ref().ok().and_then(RowLayout::partner);
        let runs = names.into_iter().zip(runs);
        let runs = runs.map(|(name, run)| {
            Ok((name, OpenText::open(self.read_settings(), run.input, Purpose::Run(partner))?))
        });
        let mut runs = runs.collect::<Result<Vec<_>>>()?;
        let swapped = swapped_name(&runs);
        let context = ReadContext { seed: Seed::random(), size, watch: self.watch() };
        let (qrels, problems) = self.qrels_of(&qrels, &form, swapped, context)?;
        let joining = JoinContext { picks: Some(queries), ..self.context(&qrels) };
        let (mut found, staged) = read_runs(&mut runs, &joining, problems, context)?;
        drop(runs);
        let queries = queries.iter().map(|id| {
            let number = qrels.pick(queries, id);
            let rankings = found.iter_mut().map(|found| {
                let at = found.iter().position(|(query, _)| Some(*query) == number)?;
                Some(found.swap_remove(at).1)
            });
            let rankings = rankings.collect();
            let judged = qrels.query(id).map(|query| qrels.documents(query));
            PickedQuery { id: id.clone(), judged, rankings }
        });
        let queries = queries.collect();
        Ok(PickedQueries { queries, matrix: finish(qrels.into_matrix(self), staged)? })
    }

    /// Opens the texts of runs, and recognises the format of each by its first lines.
    fn open(
        &self,
        runs: Vec<RunInput>,
        names: Vec<String>,
        partner: Option<&AlignedQrels>,
    ) -> Result<Vec<NamedText>> {
        let texts = runs.into_iter().map(|run| run.input.open(self.access).map(Arc::new));
        let texts = names.into_par_iter().zip(texts.collect::<Result<Vec<_>>>()?);
        let texts = texts.map(|(name, opened)| {
            (name, OpenText::open_buffered(self.read_settings(), opened, Purpose::Run(partner)))
        });
        Ok(texts.collect())
    }
}

/// Reads the opened texts of runs, and joins them with the qrels; returns the rankings of picked
/// queries in each run, and rows of labels for a matrix. `problems` are the problems of the qrels;
/// they and those of the runs are errors.
fn read_runs(
    runs: &mut [NamedText],
    joining: &JoinContext<'_>,
    problems: Problems,
    context: ReadContext<'_>,
) -> Result<(Vec<FoundRankings>, Vec<StagedRun>)> {
    let read = runs.par_iter_mut().map(|(name, text)| {
        let OpenText { name: source, form, body } = text;
        match form {
            Ok(form) => read_run(name, source, form, body, joining, context),
            // Without their judgments scores cannot be recognised, which is not a problem of the
            // run.
            Err(ForeignFormat::ScoresAlone)
                if !problems.first.is_empty() && joining.picks.is_none() =>
            {
                Ok(Default::default())
            }
            Err(foreign) => {
                let lines = foreign.problems(Role::Run, source);
                let wrong = RunProblems { lines, ..RunProblems::default() };
                Ok((Vec::new(), (StagedRun::default(), wrong)))
            }
        }
    });
    let read: Vec<_> = read.collect();
    // Of several errors the first run's is returned, whichever run was read first.
    let read = read.into_iter().collect::<Result<Vec<_>>>()?;
    let (found, staged): (Vec<_>, Vec<_>) = read.into_iter().unzip();
    Ok((found, without_problems(problems, staged, joining.qrels)?))
}

/// The name of a run, and its text, which was opened and is not read yet.
type NamedText = (String, OpenText);

/// Returns the name of the first text that was given as a run, and is a text of qrels.
fn swapped_name(runs: &[NamedText]) -> Option<&str> {
    let mut texts = runs.iter().map(|(_, text)| text);
    let swapped = texts.find(|text| matches!(text.form, Err(ForeignFormat::Swapped)))?;
    Some(&swapped.name)
}

/// Reads the run called `name` from its opened text, which messages call `source`, and joins it with
/// the qrels. A passing text can be read only once.
fn read_run(
    name: &str,
    source: &str,
    form: &RowLayout,
    body: &mut TextBody,
    joining: &JoinContext<'_>,
    ReadContext { seed, size, watch }: ReadContext<'_>,
) -> Result<PickedRun> {
    if let Some(table) = form.columns() {
        return with_records(table, |batches| {
            let columns = CheckedColumns::from_run(source, batches, seed)?.check_file(Role::Run)?;
            join_run(&ColumnSource::all(&columns, PieceSize::default(), watch), name, joining)
        });
    }
    match body {
        TextBody::Buffered(text) => {
            join_run(&TextSource::buffered(text, form, size, watch), name, joining)
        }
        TextBody::Streaming(text) => {
            let cuts = |rule| CutRule::between_queries(size, rule);
            let blocks = form.blocks(Box::new(text.all()), cuts);
            let mut blocks = blocks.map_err(|error| Error::unreadable(source, error))?;
            join_run(&TextSource::passing(source, form, size, &mut *blocks), name, joining)
        }
    }
}

/// Reads the rows of the run called `name`, and joins them with the qrels.
fn join_run(source: &impl RowSource, name: &str, joining: &JoinContext<'_>) -> Result<PickedRun> {
    match joining.picks {
        Some(picks) => picked::read(source, name, joining, picks),
        None => Ok((Vec::new(), run::read(source, name, joining)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregation::Aggregation;
    use crate::bytes::known_seeds::{KNOWN, OTHER, colliding};
    use crate::cases::cases;
    use crate::doc_ids::map::DocIdMap;
    use crate::doc_ids::rule::DocIdRule;
    use crate::lines::dialect::Dialect;
    use crate::rule::TieBreak;
    use crate::test_support::input;
    use proptest::prelude::*;
    use std::num::NonZeroU32;

    /// Returns everything that is in the matrix of these texts, or the error.
    fn joined(
        join: &Join,
        qrels: &[u8],
        run: &[u8],
        size: usize,
        seed: Seed,
    ) -> Result<impl PartialEq + std::fmt::Debug + use<>, String> {
        let runs = vec![input("run", run).into()];
        let matrix = join.files_in_chunks(input("qrels", qrels), runs, ChunkSize(size), seed);
        let matrix = matrix.map_err(|error| error.to_string())?;
        let ids = (matrix.queries().clone(), matrix.runs().to_vec());
        let labels = (matrix.depths().to_vec(), matrix.tile_bytes().to_vec());
        let judged = (matrix.facts().clone(), matrix.codebook().clone(), matrix.fingerprint());
        Ok((ids, labels, judged, matrix.rule(), matrix.tied_groups().cloned()))
    }

    fn compressed(bytes: &[u8]) -> Vec<u8> {
        zstd::encode_all(bytes, 1).unwrap()
    }

    /// Cuts both texts everywhere, plain and compressed, under two seeds, and compares the results.
    fn check(join: &Join, qrels: &str, run: &str) {
        let plain = [qrels, run].map(|text| text.as_bytes().to_vec());
        let read = |texts: &[Vec<u8>; 2], size: usize| {
            let seed = if size.is_multiple_of(2) { KNOWN } else { OTHER };
            joined(join, &texts[0], &texts[1], size, seed)
        };
        let whole = read(&plain, usize::MAX / 2);
        let packed = [qrels, run].map(|text| compressed(text.as_bytes()));
        for size in 1..=qrels.len().max(run.len()) {
            assert_eq!(read(&plain, size), whole, "in chunks of {size}");
            if size % 5 == 1 {
                assert_eq!(read(&packed, size), whole, "compressed, in blocks of {size}");
            }
        }
    }

    #[test]
    fn cuts_change_nothing() {
        let qrels = "2 0 a 1\n2 0 b 0\n\n10 0 a -1\n1 0 c 3\n1 0 a 2\n";
        let ranked = "2 Q0 a 1 2 t\n2 Q0 b 2 1 t\n# 1\n1 Q0 a 3 1 t\n1 Q0 b 1 1 t\r\n1 Q0 c 2 1 \
                      t\n9 Q0 a 1 1 u\n";
        for (_, ties) in TieBreak::ALL {
            let join = Join { ties, keep_ties: true, ..Join::default() };
            check(&join, qrels, ranked);
            check(&Join { depth: NonZeroU32::new(1), ..join.clone() }, qrels, ranked);
            check(&join, &format!("{qrels}2 0 c 1"), &format!("{ranked}2 Q0 c 1 9 v"));
        }
        check(
            &Join::default(),
            &format!("{qrels}2 0 a 1\n10 0 a 1"),
            &format!("{ranked}x\n2 Q0 a 1 1 t\n2 Q0 a 1 2 t"),
        );
    }

    #[test]
    fn cuts_change_no_units() {
        let qrels = "2 0 a 1\n2 0 b 0\n1 0 c 3\n1 0 a 2\n";
        let run = "2 Q0 a#1 1 2 t\n2 Q0 b 2 2 t\n2 Q0 a#2 4 1 t\n1 Q0 c#1#1 3 1 t\n1 Q0 b#1 1 3 \
                   t\r\n1 Q0 c#1#2 2 1 t\n9 Q0 a 1 1 u\n";
        let scattered = format!("{run}2 Q0 a#3 5 2 t\n1 Q0 a#3 5 3 t\n");
        let map = "a#1 a,a#2 a,a#3 c,b b,b#1 b,c#1#1 c,c#1#2 a".split(',');
        let map = map.filter_map(|pair| pair.split_once(' '));
        let map = DocIdRule::Map(Arc::new(DocIdMap::from_pairs(map).unwrap()));
        for units in
            [DocIdRule::before("#"), DocIdRule::before_first("#"), map, DocIdRule::Identity]
        {
            for repeats in ["error", "max", "blank", "sum", "mean:2"] {
                let repeats: Aggregation = repeats.parse().unwrap();
                let join = Join { units: units.clone(), repeats: Some(repeats), ..Join::default() };
                for text in [run, &scattered, &format!("{run}1 Q0 #2 9 1 t\n1 Q0 zz 9 9 t\n")] {
                    check(&join, qrels, text);
                    check(&Join { rows: NonZeroU32::new(2), ..join.clone() }, qrels, text);
                }
                let passages = "2 0 a#1 1\n2 0 a#9 2\n1 0 c#1 3\n2 0 b 0\n1 0 a#1 -1\n";
                let join = Join { qrels_units: DocIdRule::before("#"), ..join };
                check(&join, passages, run);
            }
        }
    }

    /// Returns a matrix as NumPy writes it; each byte of a value is one of `bytes`.
    fn matrix(descr: &str, fortran: bool, shape: [usize; 2], bytes: &[u8]) -> Vec<u8> {
        let order = if fortran { "True" } else { "False" };
        let [queries, documents] = shape;
        let header = format!(
            "{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({queries}, {documents})}}\n"
        );
        let size: usize = descr[2..].parse().unwrap();
        let values = bytes.iter().cycle().take(queries * documents * size).copied();
        let length = (header.len() as u16).to_le_bytes();
        [&b"\x93NUMPY\x01\x00"[..], &length, header.as_bytes()]
            .concat()
            .into_iter()
            .chain(values)
            .collect()
    }

    /// Reads matrices as they lie in memory, and compressed, which makes lines of them, and
    /// compares the results.
    fn check_matrices(join: &Join, qrels: &[u8], run: &[u8]) {
        let packed = [qrels, run].map(compressed);
        assert_eq!(
            joined(join, qrels, run, 1 << 20, KNOWN),
            joined(join, &packed[0], &packed[1], 1 << 20, OTHER)
        );
    }

    #[test]
    fn documents_that_count_for_one_are_on_the_lines_of_their_queries() {
        let map = DocIdRule::Map(Arc::new(
            DocIdMap::from_pairs((1..=12).map(|n: u32| (n.to_string(), "a"))).unwrap(),
        ));
        let qrels = matrix("|i1", false, [3, 12], &[0, 1, 2, 0, 3]);
        let run = matrix("<u2", false, [3, 12], &[1, 2, 3, 4, 5]);
        for repeats in ["error", "max", "sum"] {
            let repeats: Aggregation = repeats.parse().unwrap();
            let join = Join { units: map.clone(), repeats: Some(repeats), ..Join::default() };
            check_matrices(&join, &qrels, &run);
        }
        let join = Join { units: map, repeats: Some(Aggregation::Error), ..Join::default() };
        let error = joined(&join, &qrels, &run, 1 << 20, KNOWN).unwrap_err();
        assert!(
            error.contains("run:2: docno 'a' occurs again for query '2', first on line 2"),
            "{error}"
        );
    }

    /// Hashes of queries and documents that are all the same under one of two seeds change nothing.
    #[test]
    fn hashes_change_nothing() {
        let ids: Vec<[u8; 16]> = colliding(KNOWN).take(12).collect();
        let line = |n: usize, rest: String| {
            [&ids[n * 7 % 3][..], b" 0 ", &ids[n * 5 % 12], rest.as_bytes(), b"\n"].concat()
        };
        let qrels: Vec<Vec<u8>> = (0..10).map(|n| line(n, format!(" {}", n % 3))).collect();
        let run: Vec<Vec<u8>> = (0..12).map(|n| line(n, format!(" 1 {} t", n % 4))).collect();
        let (qrels, run) = (qrels.concat(), run.concat());
        let read = |seed: Seed| joined(&Join::default(), &qrels, &run, 1 << 20, seed).unwrap();
        assert_eq!(read(KNOWN), read(OTHER));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases(60)))]

        #[test]
        fn matrices_are_what_their_lines_are(
            descrs in prop::array::uniform2(prop::sample::select(vec![
                "|b1", "|i1", "|u1", "<i2", ">i2", "<u4", "<i8", ">u8", "<f2", "<f4", ">f4", "<f8",
                ">f8",
            ])),
            fortran in prop::array::uniform2(any::<bool>()),
            (queries, documents) in (0usize..5, 0usize..14),
            bytes in prop::collection::vec(
                prop::sample::select(vec![0, 1, 2, 3, 60, 127, 192, 255]),
                1..40,
            ),
            (cut, more) in (0usize..60, 0usize..60),
            (ties, depth) in (0..TieBreak::ALL.len(), 0u32..5),
        ) {
            let shape = [queries, documents];
            let [qrels, mut run] = [0, 1].map(|at| matrix(descrs[at], fortran[at], shape, &bytes));
            // One of twenty is cut off, and one of twenty goes on.
            run.truncate(run.len() - if cut < 3 { cut.min(queries * documents) } else { 0 });
            run.extend(vec![0; more.saturating_sub(56)]);
            let ties = TieBreak::ALL[ties].1;
            let join =
                Join { ties, depth: NonZeroU32::new(depth), keep_ties: true, ..Join::default() };
            check_matrices(&join, &qrels, &run);
            let join = Join { drop_identical_ids: true, keep_ties: false, ..join };
            check_matrices(&join, &qrels, &run);
        }

        #[test]
        fn cuts_change_nothing_in_any_text(
            qrels in "(([12] 0 [a-f] [0-2]|# \
                      x|[12]|)\n){1,8}", run in "(([123] 0 [a-j] 1 [0-3] [tu]|# 1|[12] \
                          0|)\r?\n){1,12}"
        ) {
            for dialect in [Dialect::Laneval, Dialect::Trec9, Dialect::Trec10] {
                check(&Join { dialect, ..Join::default() }, &qrels, &run);
            }
            let depth = NonZeroU32::new(2);
            check(&Join { dialect: Dialect::Trec10, depth, ..Join::default() }, &qrels, &run);
        }
    }
}
