//! Queries that belong together by their ids or their judgments, such as the turns of a session or
//! paraphrases, which tests take to be independent.

use crate::error::printable;

/// The fewest groups to report: fewer groups are rather the parts of a collection.
const FEWEST: usize = 5;

/// Why groups matter.
const INDEPENDENT: &str =
    "p and intervals take queries to be independent, and those of a group hardly are";

/// Writes the note that queries look like fewer independent groups, whose ids have a common stem,
/// as `s12_1` and `s12_2` have. The ids are in bytewise order, in which those of a stem lie
/// together.
pub fn groups_said(ids: &[Vec<u8>]) -> Option<String> {
    let stems: Vec<&[u8]> = ids.iter().filter_map(|id| stem(id)).collect();
    if 10 * stems.len() < 9 * ids.len() {
        return None;
    }
    let groups: Vec<&[&[u8]]> = stems.chunk_by(|one, next| one == next).collect();
    let largest = groups.iter().map(|group| group.len()).max()?;
    // Stems are names and no groups if most stems have a single query, or if one stem has more than
    // a quarter of the queries.
    let are_groups =
        groups.len() >= FEWEST && 10 * groups.len() <= 7 * ids.len() && 4 * largest <= ids.len();
    let first = groups.iter().find(|group| group.len() > 1).filter(|_| are_groups)?[0];
    let mut of_first = ids.iter().filter(|id| stem(id) == Some(first));
    let [one, other] = [of_first.next()?, of_first.next()?].map(|id| printable(id));
    Some(format!(
        "{} queries look like {} groups by their ids, such as {one} and {other}: {INDEPENDENT}",
        ids.len(),
        groups.len()
    ))
}

/// Writes the note that queries look like fewer independent groups, in which all have the same
/// judged documents.
pub fn shared_said(queries: u64, groups: u64) -> String {
    format!(
        "{queries} judged queries look like {groups} groups, in which all have the same judged \
         documents: {INDEPENDENT}"
    )
}

/// Returns the stem of a query id, before its last separator, if a short number or a letter is
/// behind that.
fn stem(id: &[u8]) -> Option<&[u8]> {
    let at = id.iter().rposition(|byte| b"_-.:/#".contains(byte)).filter(|&at| at > 0)?;
    let tail = &id[at + 1..];
    let digits = if tail.first()?.is_ascii_alphabetic() { &tail[1..] } else { tail };
    (digits.len() <= 3 && digits.iter().all(u8::is_ascii_digit)).then_some(&id[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared_ids_sentence(ids: impl IntoIterator<Item = String>) -> Option<String> {
        let mut ids: Vec<Vec<u8>> = ids.into_iter().map(String::into_bytes).collect();
        ids.sort_unstable();
        groups_said(&ids)
    }

    #[test]
    fn groups_of_queries_are_told_by_their_ids() {
        let message = |form: fn(usize, usize) -> String| {
            shared_ids_sentence((0..60).flat_map(move |one| (0..4).map(move |at| form(one, at))))
        };
        assert_eq!(
            message(|session, turn| format!("s{session}_{turn}")).unwrap(),
            "240 queries look like 60 groups by their ids, such as s0_0 and s0_1: p and intervals \
             take queries to be independent, and \
             those of a group hardly are"
        );
        for form in [
            |topic, turn| format!("{topic}-{}", ["a", "b", "c", "d"][turn]),
            |topic, turn| format!("{topic}.t{turn}"),
            |topic, turn| format!("2019/{topic}#{turn:03}"),
        ] as [fn(usize, usize) -> String; 3]
        {
            assert!(
                message(form)
                    .is_some_and(|text| text.starts_with("240 queries look like 60 groups")),
                "{:?}",
                message(form)
            );
        }
        // Numbers, one stem, stems of years, words behind the separator, and names of which nearly
        // each is alone.
        for form in [
            |one, at| format!("{}", 4 * one + at),
            |one, at| format!("test-{}", 4 * one + at),
            |one, at| format!("20{}-{one}", 10 + at),
            |one, at| format!("{one}_word{at}"),
            |one, at| format!("{one}{at}_{}", one % 7),
        ] as [fn(usize, usize) -> String; 5]
        {
            assert_eq!(message(form), None, "{}", form(3, 1));
        }
        assert_eq!(shared_ids_sentence([]), None);
    }
}
