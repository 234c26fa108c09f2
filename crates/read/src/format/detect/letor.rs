//! Detection of LETOR judgments, with the file of their query lengths, and of files of scores for
//! them.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::first_lines::{Detected, FirstLines};
use super::foreign::ForeignFormat;
use crate::bytes::input::Input;
use crate::bytes::mmap::FileAccess;
use crate::error::{Error, printable};
use crate::format::input_format::COMPRESSED_EXTENSIONS;
use crate::format::letor::{Letor, OfScores, QueryLengths, SHAPE};
use crate::format::open_input::OpenInput;
use crate::format::{AlignedQrels, OtherFormat, RowLayout};
use crate::lines::layout::NumberKind;
use crate::lines::number::finite;
use crate::lines::row::RowForm;
use crate::lines::scan::split;
use crate::lines::shape::Role;

impl FirstLines<'_> {
    /// Returns whether the first line of an input is LETOR, or that of a run only a score.
    pub fn is_letor(self) -> bool {
        let mut fields = split(self.first);
        let is_number = fields.next().and_then(finite).is_some();
        fields.next().map_or(is_number || self.are_scores(), |second| {
            // SVM-light's form without `qid`: a label, and then features as `number:value`.
            let feature = second.iter().take_while(|byte| byte.is_ascii_digit()).count();
            second.starts_with(b"qid:")
                || is_number && feature > 0 && second.get(feature) == Some(&b':')
        })
    }

    /// Returns whether the first lines of a run are one number each, perhaps behind a header.
    pub fn are_scores(self) -> bool {
        let lines = self.lines.iter();
        let mut lines =
            lines.map(|(_, line)| fast_float2::parse::<f64, _>(line.trim_ascii()).is_ok());
        let first = lines.next() == Some(true);
        self.known.role == Role::Run && (first || lines.len() > 0 && lines.all(|is| is))
    }

    pub fn letor(self) -> Detected {
        let one = split(self.first).count() == 1;
        match self.known.role {
            Role::Run if !one => {
                let message = "is LETOR, labels and features, but no ranking: give a file with a \
                               score for each of its lines";
                Err(ForeignFormat::whole(message.to_owned()))
            }
            Role::Run => {
                let Some(AlignedQrels::Letor(letor)) = self.known.partner else {
                    return Err(ForeignFormat::ScoresAlone);
                };
                let shape = "a score on each line, and no header";
                let form = RowForm::new(NumberKind::Number, shape);
                let name = printable(letor.text.name.as_bytes());
                let format = OtherFormat::in_sequence(OfScores(letor.clone()), form);
                Ok(RowLayout::other(format, format!("scores of the documents of {name}")))
            }
            Role::Qrels => {
                let Some(text) = self.known.text else {
                    unreachable!("judgments stay while they are read")
                };
                let has_qid =
                    split(self.first).nth(1).is_some_and(|field| field.starts_with(b"qid:"));
                let groups = self.groups(text, has_qid)?;
                let by = groups.as_ref().map_or(String::new(), |(name, _)| {
                    format!(", queries by {}", printable(name.as_bytes()))
                });
                let letor =
                    Letor { text: text.clone(), query_lengths: groups.map(|(_, groups)| groups) };
                let format = OtherFormat::in_sequence(
                    letor.clone(),
                    RowForm::new(NumberKind::Number, SHAPE),
                );
                let format = format.with_partner(AlignedQrels::Letor(letor));
                Ok(RowLayout::other(format, format!("LETOR, {SHAPE}{by}")))
            }
        }
    }

    /// Reads the number of lines of each query of LETOR judgments from a file, if lines lack `qid`
    /// or a file was given.
    pub fn groups(
        self,
        text: &OpenInput,
        has_qid: bool,
    ) -> Result<Option<(String, Arc<QueryLengths>)>, ForeignFormat> {
        let path = match &self.known.read_as.query_lengths {
            Some(path) => path.clone(),
            None if has_qid => return Ok(None),
            None => text.path.as_deref().and_then(lengths_beside).ok_or_else(|| {
                self.first_line_error(format!(
                    "is LETOR without qid: `{}` names a file that says how many lines each query \
                     has, or it lies beside this one, with .query or .group behind the same name",
                    self.options().groups()
                ))
            })?,
        };
        let name = path.display().to_string();
        let groups = read(&path).and_then(|bytes| {
            let groups = QueryLengths::read(&name, &bytes);
            groups.map_err(|(line, message)| format!("line {line}: {message}"))
        });
        match groups {
            Ok(groups) => Ok(Some((name, Arc::new(groups)))),
            Err(message) => {
                let name = printable(name.as_bytes());
                Err(ForeignFormat::whole(format!("its groups in {name}: {message}")))
            }
        }
    }
}

/// Finds the `.query` or `.group` file beside LETOR judgments, with the number of lines of each
/// query. The file has the name of the text with an ending, with or without the extension of a
/// compressed file, and may be compressed too.
fn lengths_beside(text: &Path) -> Option<PathBuf> {
    let is_packed = text.extension().is_some_and(|last| {
        COMPRESSED_EXTENSIONS.iter().any(|one| last.eq_ignore_ascii_case(&one[1..]))
    });
    let plain = is_packed.then(|| text.with_extension(""));
    for ending in [".query", ".group"] {
        for name in [Some(text), plain.as_deref()].into_iter().flatten() {
            for packed in [""].iter().chain(&COMPRESSED_EXTENSIONS) {
                let mut path = name.as_os_str().to_owned();
                path.push(ending);
                path.push(packed);
                if Path::new(&path).is_file() {
                    return Some(path.into());
                }
            }
        }
    }
    None
}

/// Reads a whole file into memory, decompressed.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    let opened = Input::from(path).open(FileAccess::default()).map_err(|error| match error {
        Error::Io { source, .. } => source.to_string(),
        other => other.to_string(),
    })?;
    let mut bytes = Vec::new();
    let read = opened.text().and_then(|mut text| text.read_to_end(&mut bytes));
    read.map(|_| bytes).map_err(|error| error.to_string())
}
