//! The topics that `laneval trec-eval` evaluates, and their values.

use laneval::internals::missing_topic_value;
use laneval::labels::{Codebook, Ids};
use laneval::measure::trec::{Request, TopicColumn, TopicSource, Version};
use laneval::{LabelMatrix, Scores, View};

/// The values of `laneval trec-eval` by measure and topic, with what the summary needs.
pub struct ValueTable {
    /// The run id.
    pub run_id: Vec<u8>,
    /// The topics that are evaluated, in bytewise order.
    pub topics: Ids,
    /// The values, `[measure][topic]`, or logarithms for geometric means.
    pub values: Vec<Vec<f64>>,
    /// The labels as characters, `[topic]`, if a column asks for them.
    pub labels: Vec<String>,
    /// The number of topics that the averages are over.
    pub counted: usize,
    /// The number of relevant documents of all topics, if those that the run lacks count too.
    pub relevant: Option<u64>,
    /// The number of topics of the qrels that count without being evaluated.
    pub absent: usize,
    /// Whether the run lacks each topic.
    pub missing: Vec<bool>,
}

impl ValueTable {
    /// Makes the table of values from scores; with `complete` all topics of the qrels count, as in
    /// that version of trec_eval.
    pub fn new(
        scores: Scores,
        matrix: &LabelMatrix,
        request: &Request,
        view: View,
        complete: Option<Version>,
    ) -> Self {
        let depths = matrix.run_depths(0);
        // With -c version 9 prints nothing of a topic that the run lacks, and only divides by it;
        // version 10 evaluates and prints it.
        let filled = complete == Some(Version::V10);
        let topics: Vec<usize> =
            (0..depths.len()).filter(|&query| filled || depths[query] > 0).collect();
        let (run_id, per_query) =
            scores.runs.into_iter().next().map(|run| (run.tag, run.per_query)).unwrap_or_default();
        let mut values = per_query.unwrap_or_default().values;
        if filled && depths.contains(&0) {
            fill(&mut values, matrix, request, view);
        }
        for (measure, values) in request.measures.iter().zip(&mut values) {
            let average = measure.definition().average;
            // A gain given to unjudged documents can make G infinite or not a number, which would
            // spoil the mean.
            for value in values {
                let term = average.term(*value);
                *value = if term.is_finite() { term } else { 0.0 };
            }
        }
        let counted = if complete.is_some() { depths.len() } else { topics.len() };
        Self {
            run_id,
            values,
            labels: labels(matrix, request, view, &topics),
            counted,
            relevant: complete.map(|_| positive(matrix)),
            absent: counted - topics.len(),
            missing: topics.iter().map(|&query| depths[query] == 0).collect(),
            topics: topics.iter().map(|&query| matrix.queries().get(query)).collect(),
        }
    }
}

/// Fills in the values of the topics that the run lacks, as version 10 of trec_eval does. That
/// version evaluates them with one document that is not judged, and then mends the values of
/// certain names.
fn fill(values: &mut [Vec<f64>], matrix: &LabelMatrix, request: &Request, view: View) {
    for (at, (measure, values)) in request.measures.iter().zip(values).enumerate() {
        // Which values version 10 sets to 0 depends on the name that was asked for and not on the
        // measure: these are the names in its list.
        let mended = request.columns.iter().any(|column| is_mended(column, at));
        let mut present = std::mem::take(values).into_iter();
        values.extend(matrix.run_depths(0).iter().enumerate().filter_map(|(query, &depth)| {
            if depth > 0 {
                return present.next();
            }
            Some(if mended { 0.0 } else { missing_topic_value(measure, matrix, query, view) })
        }));
    }
}

fn is_mended(column: &TopicColumn, measure: usize) -> bool {
    let named = ["num_ret", "utility", "rbp_resid"].contains(&column.name.as_str());
    matches!(column.source, TopicSource::Measure(at, _) if at == measure)
        && (named || column.name.starts_with("unj"))
}

/// Counts the judged documents with a grade above 0 in all topics, whatever counts as relevant.
fn positive(matrix: &LabelMatrix) -> u64 {
    let counts = (0..matrix.queries().len()).map(|query| match matrix.exact() {
        Some(exact) => {
            let positive = exact.facts.get(query).iter().filter(|&(grade, _)| grade > 0.0);
            positive.map(|(_, count)| u64::from(count)).sum::<u64>()
        }
        None => {
            let facts = matrix.facts().get(query);
            let positive =
                facts.iter().filter(|&(code, _)| matrix.codebook().grade(code) > Some(0.0));
            positive.map(|(_, count)| u64::from(count)).sum::<u64>()
        }
    });
    counts.sum()
}

/// Returns the labels of each topic's ranking as characters, for trec_eval's `relstring`, as many
/// as any column shows.
fn labels(matrix: &LabelMatrix, request: &Request, view: View, topics: &[usize]) -> Vec<String> {
    let longest = request.columns.iter().filter_map(|column| match column.source {
        TopicSource::Labels(length) => Some(length as usize),
        _ => None,
    });
    let Some(longest) = longest.max() else { return Vec::new() };
    let mut texts = vec![String::new(); matrix.queries().len()];
    for tile in 0..matrix.packing().tiles.len() {
        for (lane, &row) in matrix.tile_rows(tile).iter().enumerate() {
            let depth = matrix.depths()[row as usize] as usize;
            let mut labels: Vec<u8> = matrix.tile(tile).lane(lane).take(depth).collect();
            view.apply_to_row(&mut labels);
            let mut exact =
                matrix.exact().map_or(&[][..], |exact| exact.rows.row(row as usize)).iter();
            let shown = labels.iter().take(longest).map(|&label| {
                // Exact grades are stored for the labels that have a grade, one after the other.
                let grade = matrix.codebook().grade(label).map(|grade| {
                    if matrix.codebook().is_exact() {
                        grade
                    } else {
                        exact.next().copied().unwrap_or(grade)
                    }
                });
                character(label, grade)
            });
            texts[row as usize] = shown.collect();
        }
    }
    let mut missing = vec![Codebook::NOT_IN_QRELS];
    view.apply_to_row(&mut missing);
    let missing: String =
        missing.iter().take(longest).map(|&label| character(label, None)).collect();
    let shown = topics.iter().map(|&query| match matrix.run_depths(0)[query] {
        0 => missing.clone(),
        _ => std::mem::take(&mut texts[query]),
    });
    shown.collect()
}

fn character(label: u8, grade: Option<f64>) -> char {
    match grade {
        Some(grade) if grade > 9.0 => '>',
        // Invariant: grades of the codebook are 0 or more (negative ones have a code without a
        // grade), and those above 9 went before.
        Some(grade) => char::from(b'0' + grade as u8),
        None if label == Codebook::NOT_IN_QRELS => '-',
        None => '.',
    }
}
