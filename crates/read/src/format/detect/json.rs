//! Detection of JSON inputs: objects of queries with their documents, or a record for each judgment
//! or result.

use super::first_lines::{DetectContext, Detected, FirstLines};
use crate::format::{
    AlignedQrels, OtherFormat, RowLayout,
    input_format::InputFormat,
    json::{objects::QueryObjects, records::RecordKeys, walk::first_value},
};
use crate::lines::{layout::NumberKind, shape::Role};

impl FirstLines<'_> {
    /// Recognises JSON, as objects of queries or as records, by the first value of its first
    /// object.
    pub fn any_json(self) -> Detected {
        let is_jsonl = InputFormat::from_extension(self.known.name) == Some(InputFormat::Jsonl);
        match first_value(self.first) {
            Some(b'[') if RecordKeys::are_queries(self.first, self.known.role) => self.json(),
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
        let objects = QueryObjects::detect(self.text(), self.known.role);
        let form = objects.form();
        let what = format!("JSON, {}", form.shape);
        Ok(RowLayout::other(OtherFormat::in_sequence(objects, form), what))
    }

    pub fn records(self, array: bool) -> Detected {
        let DetectContext { role, by, read_as, partner, .. } = self.known;
        let text = if array { self.text() } else { self.first };
        let key = match partner {
            Some(AlignedQrels::Records(key)) => Some(&key[..]),
            _ => None,
        };
        let keys = match RecordKeys::detect(text, self.text(), role, by, (read_as, key)) {
            Ok(keys) => keys,
            Err(message) => return self.platform().unwrap_or_else(|| self.refuse(message)),
        };
        let (form, names) = (keys.form(), keys.names.clone());
        let partner = keys.query_id().filter(|_| role == Role::Qrels);
        let partner = partner.map(|key| AlignedQrels::Records(key.to_owned()));
        let what = if array { "a JSON array of records" } else { "JSONL records" };
        let what = format!("{what}, {}", form.shape);
        let format = if array {
            OtherFormat::in_sequence(keys, form)
        } else {
            OtherFormat::of_lines(keys, form)
        };
        let is_ungraded = format.form.value == NumberKind::One;
        let layout = RowLayout::other(OtherFormat { partner, ..format }, what);
        Ok(RowLayout { names, ..layout }.ungraded(is_ungraded))
    }
}
