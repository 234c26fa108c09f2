//! Detection of JSON files of evaluation platforms, such as MTEB or Quepid, by the keys at their
//! start.
//!
//! Objects of queries and known records are never recognised as a file of a platform.

use super::{
    first_lines::{Detected, FirstLines},
    foreign::ForeignFormat,
};
use crate::format::{
    OtherFormat, RowLayout,
    json::{
        platforms::{META, Platform, PlatformFile},
        walk::{Cursor, Stuck},
    },
};

impl FirstLines<'_> {
    /// Recognises an input that is a JSON file of a platform such as MTEB or Quepid; `None` for
    /// other inputs.
    pub fn platform(self) -> Option<Detected> {
        let read_as = self.known.read_as;
        if read_as.columns.is_some() {
            return None;
        }
        let platform = match platform(self.text())? {
            Ok(platform) => platform,
            Err(message) => return Some(Err(message.to_owned().into())),
        };
        let facts = platform.facts();
        if facts.role != self.known.role {
            return Some(Err(ForeignFormat::Swapped));
        }
        let option = read_as.options.subset();
        let file = PlatformFile { platform, subset: read_as.subset.clone(), option };
        let what = format!("{}, {}", facts.what, facts.shape);
        Some(Ok(RowLayout::other(OtherFormat::in_sequence(file, platform.form()), what)))
    }
}

/// The message about a result of MTEB, `{"task_name": …, "scores": {"test": [{"ndcg_at_10": …}]}}`.
const RESULT: &str = "is a result of MTEB, which has values of measures and no documents: its file \
                      of predictions is a run (`{task}_predictions.json`)";

/// Returns the platform, such as MTEB or Quepid, that wrote a JSON text, by the keys of its first
/// object, or the message about a file of a platform that has no documents.
fn platform(text: &[u8]) -> Option<Result<Platform, &'static str>> {
    let mut cursor = Cursor::new(text, false, 1);
    cursor.expect(b'{', "'{'").ok()?;
    loop {
        let key = cursor.string("a key").ok()?;
        cursor.expect(b':', "':'").ok()?;
        match (key, start(cursor).ok()?) {
            (META, [Some(b'{'), Some(b'"' | b'n')]) => return Some(Ok(Platform::Predictions)),
            (b"queries" | b"corpus", [Some(b'{'), Some(b'"')])
            | (b"relevant_docs", [Some(b'{'), Some(b'[')]) => {
                return Some(Ok(Platform::Finetuning));
            }
            (b"requests", [Some(b'['), _]) => return Some(Ok(Platform::EvalRequest)),
            (b"details", [Some(b'{'), Some(b'{')]) => return Some(Ok(Platform::EvalResponse)),
            (b"queries", [Some(b'['), _]) => return Some(Ok(Platform::Case)),
            (b"judgmentRatings", [Some(b'['), _]) => return Some(Ok(Platform::Judgments)),
            // What a search or a request of a document returns.
            (b"hits" | b"_source", [Some(b'{'), _]) => {
                let found = memchr::memmem::find(text, b"\"judgmentRatings\"").is_some();
                return found.then_some(Ok(Platform::Judgments));
            }
            (b"scores", [Some(b'{'), Some(b'[')]) => return Some(Err(RESULT)),
            _ => {}
        }
        cursor.value().ok()?;
        if !cursor.passes(b',').ok()? {
            return None;
        }
    }
}

/// Returns the first byte of a JSON value, and that of the first value in it if it is an object
/// with a key. These bytes distinguish the files of platforms.
fn start(mut cursor: Cursor<'_>) -> Result<[Option<u8>; 2], Stuck> {
    let (open, mut first) = (cursor.peek()?, None);
    if cursor.passes(b'{')? && cursor.peek()? != Some(b'}') {
        cursor.string("a key")?;
        cursor.expect(b':', "':'")?;
        first = cursor.peek()?;
    }
    Ok([open, first])
}

#[cfg(test)]
mod tests {
    use super::{Platform::*, *};

    #[test]
    fn results_of_mteb_are_no_rankings() {
        let result = br#"{"task_name": "x", "scores": {"test": [{"ndcg_at_10": 0.5}]}}"#;
        assert_eq!(platform(result), Some(Err(RESULT)));
        assert_eq!(platform(br#"{"scores": {"d1": 0.5}}"#), None, "a query");
    }

    #[test]
    fn platforms_are_told_by_their_keys() {
        for (text, expected) in [
            (
                r#"{"mteb_model_meta": {"model_name": "a", "revision": "b"}, "en": {"#,
                Some(Predictions),
            ),
            (r#"{"queries": {"q": "What?"}, "corpus": {"#, Some(Finetuning)),
            (r#"{"mode": "text", "relevant_docs": {"q": ["d"]}}"#, Some(Finetuning)),
            (r#"{"metric": {"precision": {"k": 3}}, "requests": [{"#, Some(EvalRequest)),
            (r#"{"metric_score": 0.5, "details": {"q": {"metric_score": 1"#, Some(EvalResponse)),
            (r#"{"name": "x", "judgmentRatings": [{"#, Some(Judgments)),
            (
                r#"{"took": 1, "hits": {"total": {}, "hits": [{"_source": {"judgmentRatings": ["#,
                Some(Judgments),
            ),
            (r#"{"case_name": "x", "queries": [{"#, Some(Case)),
            (r#"{"mteb_model_meta": {"model_name": null, "revision": null}"#, Some(Predictions)),
            // Queries and documents with these names.
            (r#"{"mteb_model_meta": {"d": 1}}"#, None),
            (r#"{"queries": {"d": 1}, "corpus": {"d": 2}}"#, None),
            (r#"{"relevant_docs": {"d": 1}, "details": {"d": 1}, "queries": {}}"#, None),
            (r#"{"hits": {"d": 1}}"#, None),
            (r#"{"queries": {"#, None),
            (r#"["queries"]"#, None),
            ("", None),
        ] {
            assert_eq!(platform(text.as_bytes()), expected.map(Ok::<_, &str>), "{text}");
        }
    }
}
