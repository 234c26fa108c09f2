//! The explanation of `laneval show` for a terminal: values, each run's ranking with terms, missed
//! documents, and differences.

use std::io::{self, Write};

use laneval::error::printable;
use laneval::internals::{ShownQuery, ShownRun};
use laneval::report::ReportOptions;

use super::parts::{ExplanationParts, ID_WIDTHS, RankingGridOptions};
use crate::wrapped::wrap;

/// A writer of the explanation of `laneval show` as tables for a terminal.
pub struct ExplanationTable<'a> {
    parts: ExplanationParts<'a>,
    options: ReportOptions,
}

impl<'a> ExplanationTable<'a> {
    /// Makes a writer of tables for a terminal of `width` columns, if the output is one.
    pub fn new(parts: ExplanationParts<'a>, width: Option<usize>) -> Self {
        let options =
            ReportOptions { precision: parts.precision, width, ..ReportOptions::default() };
        Self { parts, options }
    }

    /// Writes the explanation of all shown queries as tables.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        for (number, query) in self.parts.explanation.shown.queries.iter().enumerate() {
            if number > 0 {
                writeln!(to)?;
            }
            self.query(query, to)?;
        }
        Ok(())
    }

    fn query(&self, query: &ShownQuery, to: &mut dyn Write) -> io::Result<()> {
        writeln!(to, "query {}: {}", printable(&query.id), self.parts.judgments(query))?;
        if let Some(title) = self.parts.explanation.titles.texts.get(&query.id) {
            writeln!(to, "{}", self.wrapped(&printable(title.as_bytes())))?;
        }
        if let Some(values) = self.parts.values(query) {
            writeln!(to)?;
            values.write(&self.options, &mut &mut *to)?;
        }
        for (name, run) in self.parts.explanation.shown.runs.iter().zip(&query.runs) {
            self.run(name, query, run, to)?;
        }
        match self.parts.differences(query, ID_WIDTHS[1]) {
            None => Ok(()),
            Some(Err(none)) => writeln!(to, "\n{none}"),
            Some(Ok(differences)) => {
                writeln!(to, "\n{}\n", differences.heading)?;
                differences.grid.write(&self.options, &mut &mut *to)?;
                differences.more.iter().try_for_each(|more| writeln!(to, "{more}"))
            }
        }
    }

    fn run(
        &self,
        name: &str,
        query: &ShownQuery,
        run: &ShownRun,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        writeln!(
            to,
            "\n{}: {}",
            printable(name.as_bytes()),
            self.parts.ranking_sentence(query, run)
        )?;
        if !run.ranking.is_empty() {
            writeln!(to)?;
            self.ranking(run, to)?;
        }
        match self.parts.missed(query, run) {
            Some((heading, documents)) => writeln!(to, "\n{heading}\n{}", self.wrapped(&documents)),
            None => Ok(()),
        }
    }

    /// Writes the table of a run's ranking with its terms, in the widest layout that there is room
    /// for.
    fn ranking(&self, run: &ShownRun, to: &mut dyn Write) -> io::Result<()> {
        // From the widest look to the narrowest: first shorter ids, then no origins of terms, until
        // the grid is one block. Grids are made as they are asked for.
        let shapes = [true, false].into_iter().flat_map(|how| ID_WIDTHS.map(|width| (how, width)));
        let mut grids = shapes.map(|(how, width)| {
            self.parts.ranking(run, RankingGridOptions { how, width, aligned: true })
        });
        let mut grid = grids.next().unwrap_or_default();
        while grid.blocks(&self.options) > 1 {
            match grids.next() {
                Some(narrower) => grid = narrower,
                None => break,
            }
        }
        grid.write(&self.options, &mut &mut *to)?;
        for (number, note) in self.parts.marks_legend(run).iter().enumerate() {
            writeln!(to, "{}{note}", if number == 0 { "\n" } else { "" })?;
        }
        if let Some(reason) = self.parts.no_terms_note() {
            return writeln!(to, "\n{reason}");
        }
        for (number, (measure, formula)) in self.parts.formulas(run).into_iter().enumerate() {
            if number == 0 {
                writeln!(to, "\nno sums over ranks:")?;
            }
            let width = self.options.width.unwrap_or(usize::MAX);
            writeln!(to, "{}", wrap(&format!("{measure}: {formula}"), width, 2))?;
        }
        Ok(())
    }

    /// Wraps a text at the width of the terminal, with each line indented.
    fn wrapped(&self, text: &str) -> String {
        wrap(text, self.options.width.unwrap_or(100), 2)
    }
}
