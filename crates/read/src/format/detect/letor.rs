//! Detection of LETOR judgments, with the file of their query lengths, and of files of scores for
//! them.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    first_lines::{Detected, FirstLines},
    foreign::ForeignFormat,
};
use crate::bytes::{input::Input, mmap::FileAccess};
use crate::error::{Error, printable};
use crate::format::{
    AlignedQrels, OtherFormat, RowLayout,
    input_format::COMPRESSED_EXTENSIONS,
    letor::{Letor, OfScores, QueryLengths, SHAPE},
    open_input::OpenInput,
};
use crate::lines::{layout::NumberKind, number::finite, row::RowForm, scan::split, shape::Role};

impl FirstLines<'_> {
    /// Returns whether the first line of an input is LETOR, or that of a run only a score.
    pub fn is_letor(self) -> bool {
        let mut fields = split(self.first);
        let is_number = fields.next().and_then(finite).is_some();
        fields.next().map_or(is_number || self.are_scores(), |second| {
            // SVM-light's form without `qid`: a label, and then features as `number:value`.
            let feature = second.iter().take_while(|byte| byte.is_ascii_digit()).count();
            self.has_qid() || is_number && feature > 0 && second.get(feature) == Some(&b':')
        })
    }

    /// Returns whether the first lines of a run are one number each, perhaps behind a header.
    fn are_scores(self) -> bool {
        let lines = self.lines.iter();
        let mut lines =
            lines.map(|(_, line)| fast_float2::parse::<f64, _>(line.trim_ascii()).is_ok());
        let first = lines.next() == Some(true);
        self.known.role == Role::Run && (first || lines.len() > 0 && lines.all(|is| is))
    }

    pub fn letor(self) -> Detected {
        match self.known.role {
            Role::Run if split(self.first).count() != 1 => {
                let message = "is LETOR, labels and features, but no ranking: give a file with a \
                               score for each of its lines";
                Err(message.to_owned().into())
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
                let query_lengths = self.query_lengths(text)?;
                let by = query_lengths.as_ref().map_or(String::new(), |groups| {
                    format!(", queries by {}", printable(groups.name.as_bytes()))
                });
                let letor = Letor { text: text.clone(), query_lengths };
                let form = RowForm::new(NumberKind::Number, SHAPE);
                let format = OtherFormat {
                    partner: Some(AlignedQrels::Letor(letor.clone())),
                    ..OtherFormat::in_sequence(letor, form)
                };
                Ok(RowLayout::other(format, format!("LETOR, {SHAPE}{by}")))
            }
        }
    }

    /// Reads the number of lines of each query of LETOR judgments from a file, if lines lack `qid`
    /// or a file was given.
    fn query_lengths(self, text: &OpenInput) -> Result<Option<Arc<QueryLengths>>, ForeignFormat> {
        let path = match &self.known.read_as.query_lengths {
            Some(path) => path.clone(),
            None if self.has_qid() => return Ok(None),
            None => match text.path.as_deref().and_then(lengths_beside) {
                Some(path) => path,
                None => {
                    return self.refuse(format!(
                        "is LETOR without qid: `{}` names a file that says how many lines each \
                         query has, or it lies beside this one, with .query or .group behind the \
                         same name",
                        self.options().groups()
                    ));
                }
            },
        };
        let name = path.display().to_string();
        let groups = read(&path).and_then(|bytes| QueryLengths::read(&name, &bytes));
        groups.map(|groups| Some(Arc::new(groups))).map_err(|message| {
            let name = printable(name.as_bytes());
            format!("its groups in {name}: {message}").into()
        })
    }

    /// Returns whether the second field of the first line names its query.
    pub fn has_qid(self) -> bool {
        split(self.first).nth(1).is_some_and(|field| field.starts_with(b"qid:"))
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
    opened.whole().map(Cow::into_owned).map_err(|error| error.to_string())
}
