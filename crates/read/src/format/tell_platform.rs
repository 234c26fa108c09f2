//! Recognises the JSON files of platforms, each one large object, by the keys at their start.
//!
//! Objects of queries and known records are never recognised as a file of a platform.

use super::Form;
use super::RowMaker;
use super::RowShape;
use super::foreign::OtherFormat;
use super::json::{Cursor, Stuck, Token};
use super::look::{Look, Told};
use super::platforms::{META, OfPlatform, Platform};

/// The first value of an object or array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FirstInside {
    Text,
    Word,
    Null,
    Object,
    Array,
    /// There is none.
    Nothing,
}

/// The start of a value, as far as the start distinguishes the kinds of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueStart {
    Single,
    Object(FirstInside),
    Array,
}

impl Look<'_> {
    /// Recognises a file of a platform.
    pub fn platform(self) -> Option<Told> {
        let read_as = self.known.read_as;
        if read_as.columns.is_some() {
            return None;
        }
        let platform = platform(self.text())?;
        if platform.role() != self.known.role {
            return Some(Err(OtherFormat::Swapped));
        }
        let option = read_as.options.subset();
        let of = OfPlatform { platform, subset: read_as.subset.clone(), option };
        Some(Ok(Form {
            shape: RowShape::Made(RowMaker::new(of, platform.table())),
            what: format!("{}, {}", platform.what(), platform.shape()),
            doubtful: false,
        }))
    }
}

/// Finds the platform of a text by the keys of its first object, as far as they are there.
fn platform(text: &[u8]) -> Option<Platform> {
    let mut cursor = Cursor::new(text, false, 1);
    cursor.expect(b'{', "'{'").ok()?;
    loop {
        let key = cursor.string("a key").ok()?;
        cursor.expect(b':', "':'").ok()?;
        let mut ahead = cursor;
        let is = start(&mut ahead);
        match (&*key, is.ok()?) {
            (META, ValueStart::Object(FirstInside::Text | FirstInside::Null)) => {
                return Some(Platform::Predictions);
            }
            (b"queries" | b"corpus", ValueStart::Object(FirstInside::Text))
            | (b"relevant_docs", ValueStart::Object(FirstInside::Array)) => {
                return Some(Platform::Finetuning);
            }
            (b"requests", ValueStart::Array) => return Some(Platform::EvalRequest),
            (b"details", ValueStart::Object(FirstInside::Object)) => {
                return Some(Platform::EvalResponse);
            }
            (b"queries", ValueStart::Array) => return Some(Platform::Case),
            (b"judgmentRatings", ValueStart::Array) => return Some(Platform::Judgments),
            // What a search or a request of a document returns.
            (b"hits" | b"_source", ValueStart::Object(_)) => {
                let found = memchr::memmem::find(text, b"\"judgmentRatings\"").is_some();
                return found.then_some(Platform::Judgments);
            }
            _ => {}
        }
        if let Token::Open(open) = cursor.value().ok()? {
            cursor.skip_rest(open).ok()?;
        }
        if !cursor.passes(b',').ok()? {
            return None;
        }
    }
}

/// Reads the start of a value.
fn start(cursor: &mut Cursor<'_>) -> Result<ValueStart, Stuck> {
    Ok(match cursor.value()? {
        Token::Open(b'[') => ValueStart::Array,
        Token::Open(_) if cursor.peek()? == Some(b'}') => ValueStart::Object(FirstInside::Nothing),
        Token::Open(_) => {
            cursor.string("a key")?;
            cursor.expect(b':', "':'")?;
            ValueStart::Object(match cursor.peek()? {
                Some(b'"') => FirstInside::Text,
                Some(b'{') => FirstInside::Object,
                Some(b'[') => FirstInside::Array,
                Some(b'n') => FirstInside::Null,
                _ => FirstInside::Word,
            })
        }
        _ => ValueStart::Single,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platforms_are_told_by_their_keys() {
        for (text, expected) in [
            (
                r#"{"mteb_model_meta": {"model_name": "a", "revision": "b"}, "en": {"#,
                Some(Platform::Predictions),
            ),
            (r#"{"queries": {"q": "What?"}, "corpus": {"#, Some(Platform::Finetuning)),
            (r#"{"mode": "text", "relevant_docs": {"q": ["d"]}}"#, Some(Platform::Finetuning)),
            (r#"{"metric": {"precision": {"k": 3}}, "requests": [{"#, Some(Platform::EvalRequest)),
            (
                r#"{"metric_score": 0.5, "details": {"q": {"metric_score": 1"#,
                Some(Platform::EvalResponse),
            ),
            (r#"{"name": "x", "judgmentRatings": [{"#, Some(Platform::Judgments)),
            (
                r#"{"took": 1, "hits": {"total": {}, "hits": [{"_source": {"judgmentRatings": ["#,
                Some(Platform::Judgments),
            ),
            (r#"{"case_name": "x", "queries": [{"#, Some(Platform::Case)),
            (
                r#"{"mteb_model_meta": {"model_name": null, "revision": null}"#,
                Some(Platform::Predictions),
            ),
            // Queries and documents with these names.
            (r#"{"mteb_model_meta": {"d": 1}}"#, None),
            (r#"{"queries": {"d": 1}, "corpus": {"d": 2}}"#, None),
            (r#"{"relevant_docs": {"d": 1}, "details": {"d": 1}, "queries": {}}"#, None),
            (r#"{"hits": {"d": 1}}"#, None),
            (r#"{"queries": {"#, None),
            (r#"["queries"]"#, None),
            ("", None),
        ] {
            assert_eq!(platform(text.as_bytes()), expected, "{text}");
        }
    }
}
