//! Relevant documents that a run retrieved, instead of all that were judged.

use laneval::parts::generate::Synthetic;
use laneval::{
    Error, Evaluator, Join, LabelMatrix, Qrels, QuerySet, RelevantFrom, Scores, TiedValue, View,
};

type Rows<T> = Vec<(String, String, T)>;

/// Judgments and a run of some queries, with ties, unjudged documents, negative grades, and queries
/// that the run lacks.
fn generated(seed: u64) -> (Rows<f64>, Rows<f64>) {
    let mut state = seed;
    let mut next = move |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let (mut qrels, mut run) = (Vec::new(), Vec::new());
    for query in 0..40 {
        let query = format!("q{query:02}");
        for document in 0..12 {
            if next(3) > 0 {
                qrels.push((query.clone(), format!("d{document:02}"), next(5) as f64 - 1.0));
            }
            if next(2) > 0 && !query.ends_with('7') {
                run.push((query.clone(), format!("d{document:02}"), next(6) as f64));
            }
        }
        qrels.push((query.clone(), "never".to_owned(), 2.0));
    }
    (qrels, run)
}

fn matrix(qrels: &Rows<f64>, runs: &[(&str, &Rows<f64>)]) -> LabelMatrix {
    let judged = Qrels::new(qrels.iter().map(|(q, d, g)| (q.as_str(), d.as_str(), *g))).unwrap();
    let rows = |run: &Rows<f64>| {
        run.iter().map(|(q, d, s)| (q.clone(), d.clone(), *s)).collect::<Vec<_>>()
    };
    let runs: Vec<_> = runs.iter().map(|(name, run)| ((*name).to_owned(), rows(run))).collect();
    Join { keep_ties: true, ..Join::default() }.rankings(&judged, runs).unwrap()
}

/// Returns the judgments of what is left of a run; queries of which nothing is left keep a document
/// that is not relevant.
fn cut(qrels: &Rows<f64>, run: &Rows<f64>, view: View) -> Rows<f64> {
    let mut ranked = run.clone();
    ranked.sort_by(|a, b| a.0.cmp(&b.0).then(b.2.total_cmp(&a.2)).then(b.1.cmp(&a.1)));
    let mut rank = 0;
    let mut query = String::new();
    ranked.retain(|row| {
        rank = if row.0 == query { rank + 1 } else { 0 };
        query.clone_from(&row.0);
        view.depth.is_none_or(|depth| rank < depth)
    });
    let is_retained = |row: &&(String, String, f64)| {
        let left = ranked.iter().any(|result| (&result.0, &result.1) == (&row.0, &row.1));
        left && (!view.judged_only || row.2 >= 0.0)
    };
    let mut all: Rows<f64> = qrels.iter().filter(is_retained).cloned().collect();
    let queries: std::collections::BTreeSet<&String> = qrels.iter().map(|row| &row.0).collect();
    all.extend(queries.into_iter().map(|query| (query.clone(), "nothing".to_owned(), 0.0)));
    all
}

fn values(scores: &Scores, run: usize) -> Vec<Vec<u64>> {
    let per_query = scores.runs[run].per_query.as_ref().unwrap();
    per_query
        .values
        .iter()
        .map(|values| values.iter().map(|value| value.to_bits()).collect())
        .collect()
}

const MEASURES: &str = "nDCG,nDCG@5,nDCG(gain=exp2)@3,AP,AP@5,AP(norm=min)@5,R@5,Rprec,RR,P@5,\
    Success@3,SetR,SetF,IPrec@0.5,RBP,ERR(gmax=3)@5,Compat,RnDCG,G,SDCG@5,InfAP,NumRel,IDCG@5,F@5";

#[test]
fn relevant_documents_are_those_of_judgments_that_were_cut_to_the_run() {
    for seed in 0..8 {
        let (qrels, run) = generated(seed);
        for (depth, judged_only) in [(None, false), (Some(3), false), (None, true), (Some(4), true)]
        {
            let view = View { depth, judged_only };
            let evaluator =
                Evaluator::new([MEASURES]).unwrap().with_view(view).with_per_query(true);
            let all = matrix(&qrels, &[("run", &run)]);
            let known = evaluator
                .clone()
                .with_relevant_from(RelevantFrom::Retrieved)
                .evaluate(&all)
                .unwrap();
            let expected =
                evaluator.evaluate(&matrix(&cut(&qrels, &run, view), &[("run", &run)])).unwrap();
            for (at, measure) in known.measures.iter().enumerate() {
                assert_eq!(
                    values(&known, 0)[at],
                    values(&expected, 0)[at],
                    "{measure} {view:?} {seed}"
                );
            }
            assert_ne!(
                values(&known, 0),
                values(&evaluator.evaluate(&all).unwrap(), 0),
                "{view:?}"
            );
        }
    }
}

#[test]
fn each_run_knows_its_own_documents_and_values_over_ties_too() {
    let ((qrels, one), (_, two)) = (generated(3), generated(4));
    let both = matrix(&qrels, &[("one", &one), ("two", &two)]);
    for tied in [TiedValue::Ranked, TiedValue::Average, TiedValue::Best, TiedValue::Worst] {
        for view in [View::default(), View { judged_only: true, ..View::default() }] {
            let measures = "nDCG@5,AP,R@5,RR,P@5,nDCG(gain=exp2),Rprec";
            let evaluator = Evaluator::new([measures]).unwrap();
            let evaluator = evaluator.with_view(view).with_tied_value(tied).with_per_query(true);
            let known = evaluator
                .clone()
                .with_relevant_from(RelevantFrom::Retrieved)
                .evaluate(&both)
                .unwrap();
            for (at, run) in [&one, &two].into_iter().enumerate() {
                let alone = matrix(&cut(&qrels, run, view), &[("run", run)]);
                assert_eq!(
                    values(&known, at),
                    values(&evaluator.evaluate(&alone).unwrap(), 0),
                    "{tied} {view:?}"
                );
            }
        }
    }
}

#[test]
fn ideals_of_the_retrieved_are_all_ideals() {
    let matrix = Synthetic { queries: 300, depth: 40, ..Synthetic::default() }.matrix().unwrap();
    let evaluate = |names: &str, known| {
        Evaluator::new([names])
            .unwrap()
            .with_relevant_from(known)
            .with_per_query(true)
            .evaluate(&matrix)
            .unwrap()
    };
    let known =
        evaluate("nDCG@10,nDCG(ideal=retrieved)@10,AP,AP(norm=hits)", RelevantFrom::Retrieved);
    let columns = values(&known, 0);
    assert_eq!((&columns[0], &columns[2]), (&columns[1], &columns[3]));
    let judged =
        values(&evaluate("nDCG(ideal=retrieved)@10,AP(norm=hits)", RelevantFrom::Judged), 0);
    assert_eq!([&columns[1], &columns[3]], [&judged[0], &judged[1]]);
    assert!(
        known.runs[0].average(0) > evaluate("nDCG@10", RelevantFrom::Judged).runs[0].average(0)
    );
}

#[test]
fn more_grades_than_codes_and_the_reference_agree() {
    let (mut qrels, run) = generated(5);
    for (at, row) in qrels.iter_mut().enumerate() {
        row.2 += at as f64 / 1024.0;
    }
    let all = matrix_without_ties(&qrels, &run);
    assert!(all.exact().is_some());
    for view in [View::default(), View { depth: Some(4), judged_only: true }] {
        let evaluator = Evaluator::new(["nDCG,nDCG@3,AP,R@5,Rprec,nDCG(rel=2)@5"]).unwrap();
        let evaluator = evaluator.with_view(view).with_per_query(true);
        let known =
            evaluator.clone().with_relevant_from(RelevantFrom::Retrieved).evaluate(&all).unwrap();
        let expected =
            evaluator.evaluate(&matrix_without_ties(&cut(&qrels, &run, view), &run)).unwrap();
        assert_eq!(values(&known, 0), values(&expected, 0), "{view:?}");
        let reference = evaluator
            .with_relevant_from(RelevantFrom::Retrieved)
            .with_engine(laneval::EngineChoice::Reference);
        assert_eq!(values(&known, 0), values(&reference.evaluate(&all).unwrap(), 0));
    }
}

fn matrix_without_ties(qrels: &Rows<f64>, run: &Rows<f64>) -> LabelMatrix {
    let judged = Qrels::new(qrels.iter().map(|(q, d, g)| (q.as_str(), d.as_str(), *g))).unwrap();
    Join::default().rankings(&judged, [("run".to_owned(), run.clone())]).unwrap()
}

#[test]
fn a_missing_query_has_nothing_relevant() {
    let (qrels, run) = generated(6);
    let evaluator = Evaluator::new(["NumRel"])
        .unwrap()
        .with_relevant_from(RelevantFrom::Retrieved)
        .with_per_query(true);
    let scores = evaluator.evaluate(&matrix(&qrels, &[("run", &run)])).unwrap();
    let per_query = scores.runs[0].per_query.as_ref().unwrap();
    let missing: Vec<&[u8]> =
        per_query.missing.iter().map(|&at| per_query.queries.get(at)).collect();
    assert_eq!(missing, [&b"q07"[..], b"q17", b"q27", b"q37"]);
    assert!(per_query.missing.iter().all(|&at| per_query.values[0][at] == 0.0));
    let both = evaluator
        .with_queries(QuerySet::Common)
        .evaluate(&matrix(&qrels, &[("run", &run)]))
        .unwrap();
    assert_eq!(both.runs[0].average(0), scores.runs[0].average(0));
}

#[test]
fn orders_that_decide_which_documents_are_left_are_refused() {
    let (qrels, run) = generated(7);
    let evaluator = Evaluator::new(["AP"])
        .unwrap()
        .with_relevant_from(RelevantFrom::Retrieved)
        .with_tied_value(TiedValue::Average);
    let evaluator = evaluator.with_view(View { depth: Some(3), judged_only: false });
    let error = evaluator.evaluate(&matrix(&qrels, &[("run", &run)])).unwrap_err();
    assert!(matches!(error, Error::Unanswerable(_)), "{error}");
    assert!(error.to_string().contains("relevant_from=retrieved"), "{error}");
}

#[test]
fn summaries_of_other_relevant_documents_do_not_merge() {
    let (qrels, run) = generated(8);
    let all = matrix(&qrels, &[("run", &run)]);
    let summary =
        |known| Evaluator::new(["AP"]).unwrap().with_relevant_from(known).summary(&all).unwrap();
    let error = summary(RelevantFrom::Judged)
        .merge(&summary(RelevantFrom::Retrieved))
        .unwrap_err()
        .to_string();
    assert!(error.contains("relevant documents") && error.contains("--relevant-from"), "{error}");
    let stored =
        laneval::Summary::from_bytes(&summary(RelevantFrom::Retrieved).to_bytes()).unwrap();
    assert_eq!(stored, summary(RelevantFrom::Retrieved));
    assert_eq!(laneval::Summary::from_json(&stored.to_json()).unwrap(), stored);
}
