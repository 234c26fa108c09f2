//! Tells LETOR, with the groups of its lines, and the scores that go with it.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Form;
use super::Partner;
use super::RowMaker;
use super::RowShape;
use super::foreign::OtherFormat;
use super::input_format::PACKED;
use super::letor::{Letor, OfScores, QueryLengths, SHAPE};
use super::look::{Look, Told};
use super::opened::Opened;
use crate::bytes::input::Input;
use crate::bytes::mmap::FileAccess;
use crate::error::{Error, printable};
use crate::lines::layout::{NumberKind, TableLayout};
use crate::lines::number::finite;
use crate::lines::scan::split;
use crate::lines::shape::Role;

impl Look<'_> {
    /// Checks whether the first line is LETOR, or in a run only a number.
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

    /// Checks whether the first lines of a run are one number each; the first line may be a header.
    pub fn are_scores(self) -> bool {
        let is_number = |line: &[u8]| fast_float2::parse::<f64, _>(line.trim_ascii()).is_ok();
        let mut lines = self.lines.iter().map(|(_, line)| is_number(line));
        let first = lines.next() == Some(true);
        self.known.role == Role::Run && (first || lines.len() > 0 && lines.all(|is| is))
    }

    pub fn letor(self) -> Told {
        let one = split(self.first).count() == 1;
        match self.known.role {
            Role::Run if !one => Err(OtherFormat::Told(
                0,
                "is LETOR, labels and features, but no ranking: give a file with a score for each \
                 of its lines"
                    .to_owned(),
            )),
            Role::Run => {
                let Some(Partner::Letor(letor)) = self.known.partner else {
                    return Err(OtherFormat::ScoresAlone);
                };
                let shape = "a score on each line, and no header";
                let table = TableLayout::made(NumberKind::Number, shape);
                Ok(Form {
                    what: format!(
                        "scores of the documents of \
                                   {}",
                        printable(letor.text.name.as_bytes())
                    ),
                    shape: RowShape::Made(RowMaker::new(OfScores(letor.clone()), table)),
                    doubtful: false,
                })
            }
            Role::Qrels => {
                let Some(text) = self.known.text else {
                    unreachable!(
                        "judgments stay while they \
                    are read"
                    )
                };
                let has_qid =
                    split(self.first).nth(1).is_some_and(|field| field.starts_with(b"qid:"));
                let groups = self.groups(text, has_qid)?;
                let by = groups.as_ref().map_or(String::new(), |(name, _)| {
                    format!(
                        ", queries by \
                    {}",
                        printable(name.as_bytes())
                    )
                });
                let letor =
                    Letor { text: text.clone(), query_lengths: groups.map(|(_, groups)| groups) };
                let table = TableLayout::made(NumberKind::Number, SHAPE);
                let made = RowMaker::new(letor.clone(), table).with_partner(Partner::Letor(letor));
                Ok(Form {
                    what: format!("LETOR, {SHAPE}{by}"),
                    shape: RowShape::Made(made),
                    doubtful: false,
                })
            }
        }
    }

    /// Reads the groups of LETOR judgments, with the name of their file, if lines have no `qid` or
    /// the file was given.
    pub fn groups(
        self,
        text: &Opened,
        has_qid: bool,
    ) -> Result<Option<(String, Arc<QueryLengths>)>, OtherFormat> {
        let given = self.known.read_as.query_lengths.clone();
        let with = |path: &Path, extension: &str| {
            let mut path = path.to_owned().into_os_string();
            path.push(extension);
            PathBuf::from(path)
        };
        // The file has the name with an ending, with or without the extension of a compressed file,
        // and may be compressed too.
        let beside = || {
            let path = text.path.as_deref()?;
            let packed = path
                .extension()
                .is_some_and(|last| PACKED.iter().any(|one| last.eq_ignore_ascii_case(&one[1..])));
            let names = [Some(path.to_owned()), packed.then(|| path.with_extension(""))];
            let names: Vec<PathBuf> = names.into_iter().flatten().collect();
            let all = [".query", ".group"]
                .into_iter()
                .flat_map(|extension| names.iter().map(move |name| with(name, extension)));
            let mut all = all.flat_map(|name| {
                let packed = PACKED.map(|extension| with(&name, extension));
                [name].into_iter().chain(packed)
            });
            all.find(|path| path.is_file())
        };
        let path = match given {
            Some(path) => path,
            None if has_qid => return Ok(None),
            None => match beside() {
                Some(path) => path,
                None => {
                    return Err(self.wrong(format!(
                        "is LETOR without qid: `{}` names a file that says how many lines each \
                         query has, or it lies beside this one, with \
                         .query or .group behind the same name",
                        self.options().groups()
                    )));
                }
            },
        };
        let name = path.display().to_string();
        let in_it = |message: String| {
            OtherFormat::Told(0, format!("its groups in {}: {message}", printable(name.as_bytes())))
        };
        let bytes = read(&path).map_err(in_it)?;
        match QueryLengths::read(&name, &bytes) {
            Ok(groups) => Ok(Some((name, Arc::new(groups)))),
            Err((line, message)) => Err(in_it(format!("line {line}: {message}"))),
        }
    }
}

/// Reads the text of a file, decompressed.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    let opened = Input::from(path).open(FileAccess::default()).map_err(|error| match error {
        Error::Io { source, .. } => source.to_string(),
        other => other.to_string(),
    })?;
    let mut bytes = Vec::new();
    let read = opened.text().and_then(|mut text| text.read_to_end(&mut bytes));
    read.map(|_| bytes).map_err(|error| error.to_string())
}
