//! Detection of JSON inputs: objects of queries with their documents, or a record for each judgment
//! or result.

use super::first_lines::{DetectContext, Detected, FirstLines};
use crate::format::{
    OtherFormat, RowLayout,
    input_format::InputFormat,
    json::{
        objects::{QueryObjects, shape},
        records::RecordKeys,
        walk::first_value,
    },
};
use crate::lines::{layout::NumberKind, row::RowForm};

impl FirstLines<'_> {
    /// Recognises JSON, as objects of queries or as records, by the first value of its first
    /// object.
    pub fn any_json(self) -> Detected {
        let is_jsonl = InputFormat::from_extension(self.known.name) == Some(InputFormat::Jsonl);
        match first_value(self.first) {
            Some(value) if is_jsonl || value != b'{' => self.records(false),
            _ => self.json(),
        }
    }

    pub fn json(self) -> Detected {
        if self.first.trim_ascii_start().starts_with(b"[") {
            return self.records(true);
        }
        if let Some(detected) = self.platform() {
            return detected;
        }
        let role = self.known.role;
        let shape = shape(role.number());
        let what = format!("JSON, {shape}");
        let form = RowForm::new(NumberKind::Number, shape);
        Ok(RowLayout::other(OtherFormat::in_sequence(QueryObjects(role), form), what))
    }

    pub fn records(self, array: bool) -> Detected {
        let DetectContext { role, by, read_as, .. } = self.known;
        let text = if array { self.text() } else { self.first };
        let keys = match RecordKeys::detect(text, role, by, read_as) {
            Ok(keys) => keys,
            Err(message) => return self.platform().unwrap_or_else(|| self.refuse(message)),
        };
        let form = keys.form();
        let what = if array { "a JSON array of records" } else { "JSONL records" };
        let what = format!("{what}, {}", form.shape);
        let format = if array {
            OtherFormat::in_sequence(keys, form)
        } else {
            OtherFormat::of_lines(keys, form)
        };
        Ok(RowLayout::other(format, what))
    }
}
