//! Tells JSON: objects of objects, or records.

use super::Form;
use super::RowMaker;
use super::RowShape;
use super::input_format::InputFormat;
use super::json::{OfObjects, first_value, objects};
use super::look::{KnownOfText, Look, Told};
use super::records::{OfRecords, RecordKeys};
use crate::lines::layout::{NumberKind, TableLayout};

impl Look<'_> {
    /// Recognises objects of objects, or records, by the first value.
    pub fn any_json(self, start: &[u8]) -> Told {
        match first_value(start) {
            Some(_) if InputFormat::of_name(self.known.name) == Some(InputFormat::Jsonl) => {
                self.records(false)
            }
            None | Some(b'{') => self.json(),
            Some(_) => self.records(false),
        }
    }

    pub fn json(self) -> Told {
        if self.first.trim_ascii_start().starts_with(b"[") {
            return self.records(true);
        }
        if let Some(told) = self.platform() {
            return told;
        }
        let number = self.known.role.number();
        let shape = objects(number);
        Ok(Form {
            shape: RowShape::Made(RowMaker::new(
                OfObjects(number),
                TableLayout::made(NumberKind::Number, &shape),
            )),
            what: format!("JSON, {shape}"),
            doubtful: false,
        })
    }

    pub fn records(self, array: bool) -> Told {
        let KnownOfText { role, by, read_as, .. } = self.known;
        let start = self.first.as_ptr() as usize - self.head.text.as_ptr() as usize;
        let text = if array { &self.head.text[start..] } else { self.first };
        let keys = match RecordKeys::of(text, role, by, read_as) {
            Ok(keys) => keys,
            Err(message) => return self.platform().unwrap_or_else(|| Err(self.wrong(message))),
        };
        let (shape, table) = (keys.shape(), keys.table());
        let number = keys.number(role);
        let what = if array { "a JSON array of records" } else { "JSONL records" };
        let of = OfRecords { keys, number, in_array: array };
        Ok(Form {
            what: format!("{what}, {shape}"),
            shape: RowShape::Made(RowMaker::new(of, table)),
            doubtful: false,
        })
    }
}
