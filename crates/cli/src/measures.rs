//! `laneval measures`: the table of measures, for people and for programs.

use std::io::{self, Write};

use clap::Args;
use laneval::Measure;
use laneval::measure::{
    Better, CutoffRule, Definition, FOREIGN, Foreign, JudgmentInput, Kind, MEASURES, NOTHING,
    Param, Profile, Range, Status, Tool, meanings,
};
use serde::Serialize;

use super::choice::{PlainFormat, one_of, plain};
use super::libraries::{self, LibraryDescription};
use super::output::print_text;
use super::stop::Stop;
use super::style::stdout_width;
use super::wrapped::wrap;

const EXAMPLES: &str = "\
Examples:
  laneval measures
  laneval measures --plain
  laneval measures nDCG
  laneval measures rbp.95 trec:recall
  laneval measures recip_rank --format json
  laneval measures --as
  laneval measures --as xgboost";

/// List the measures, or explain some.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Measures {
    /// Measures, by any name that `eval -m` takes
    #[arg(value_name = "NAME")]
    asked: Vec<String>,
    /// Print only the canonical names, one on each line
    #[arg(long, conflicts_with_all = ["asked", "format"])]
    names: bool,
    /// Print a line for each measure in plain words, for readers who know no information retrieval
    #[arg(long, conflicts_with_all = ["names", "format"])]
    plain: bool,
    /// List the libraries as which laneval evaluates, or the names of one
    #[arg(long = "as", value_name = "LIBRARY", num_args = 0..=1)]
    #[arg(conflicts_with_all = ["asked", "names", "plain"])]
    library: Option<Option<String>>,
    /// The format of the list
    #[arg(long, value_name = "FORMAT", default_value = "table", value_parser = one_of(plain()))]
    format: PlainFormat,
}

/// The text that points users of other commands to the measures.
pub fn way() -> String {
    let names: Vec<&str> = MEASURES.iter().map(|row| row.name).collect();
    format!(
        "{}\n\n`laneval measures` says what each of them is, `laneval measures NAME` explains one \
         in full.",
        wrap(&format!("Measures: {}.", names.join(", ")), stdout_width().unwrap_or(100), 0)
    )
}

impl Measures {
    /// Runs the command.
    pub fn run(self) -> Result<(), Stop> {
        if let Some(library) = &self.library {
            return self.run_libraries(library.as_deref());
        }
        let pages = self.pages()?;
        print_text(self.format == PlainFormat::Table, |to| match self.format {
            _ if self.names => MEASURES.iter().try_for_each(|row| writeln!(to, "{}", row.name)),
            _ if self.plain && self.asked.is_empty() => list(Words::Plain, |_| true, to),
            _ if self.plain => {
                let asked = |row: &Definition| pages.iter().any(|page| page.row.name == row.name);
                list(Words::Plain, asked, to)
            }
            PlainFormat::Table if self.asked.is_empty() => list(Words::Field, |_| true, to),
            PlainFormat::Table => pages.iter().enumerate().try_for_each(|(at, page)| {
                if at > 0 {
                    writeln!(to)?;
                }
                page.write(to)
            }),
            PlainFormat::Json if self.asked.is_empty() => json(
                &MEASURES.iter().map(|row| MeasureDescription::of(row, &[])).collect::<Vec<_>>(),
                to,
            ),
            PlainFormat::Json => match pages.as_slice() {
                [page] => json(&page.describe(), to),
                pages => json(&pages.iter().map(Page::describe).collect::<Vec<_>>(), to),
            },
        })
    }

    /// Lists libraries, or the names of one.
    fn run_libraries(&self, asked: Option<&str>) -> Result<(), Stop> {
        let library =
            asked.map(Profile::of).transpose().map_err(|error| Stop::new(error.to_string()))?;
        print_text(self.format == PlainFormat::Table, |to| match (self.format, library) {
            (PlainFormat::Table, None) => libraries::list(to),
            (PlainFormat::Table, Some(library)) => libraries::explain(library, to),
            (PlainFormat::Json, None) => {
                json(&Profile::ALL.iter().map(LibraryDescription::of).collect::<Vec<_>>(), to)
            }
            (PlainFormat::Json, Some(library)) => json(&LibraryDescription::of(library), to),
        })
    }

    /// Makes a page for each row that one of the names means; all wrong names are reported
    /// together.
    fn pages(&self) -> Result<Vec<Page>, Stop> {
        let (mut pages, mut wrong) = (Vec::<Page>::new(), Vec::new());
        for name in &self.asked {
            match meanings(name) {
                Ok(meant) => {
                    meant.into_iter().for_each(|(row, measure)| Page::add(&mut pages, row, measure))
                }
                Err(laneval::Error::Measures(all)) => {
                    wrong.extend(all.iter().map(ToString::to_string))
                }
                Err(error) => wrong.push(error.to_string()),
            }
        }
        if wrong.is_empty() { Ok(pages) } else { Err(Stop::Failed(wrong)) }
    }
}

/// The page of a row: the row itself, and those of its measures that were asked for.
struct Page {
    row: &'static Definition,
    measures: Vec<Measure>,
}

impl Page {
    /// Adds a measure to the page of its row; makes the page if there is none.
    fn add(pages: &mut Vec<Page>, row: &'static Definition, measure: Option<Measure>) {
        let at = pages.iter().position(|page| page.row.name == row.name).unwrap_or_else(|| {
            pages.push(Page { row, measures: Vec::new() });
            pages.len() - 1
        });
        pages[at].measures.extend(measure);
    }

    fn names(&self) -> Vec<String> {
        self.measures.iter().map(ToString::to_string).collect()
    }

    fn describe(&self) -> MeasureDescription {
        MeasureDescription {
            measures: Some(self.names()),
            ..MeasureDescription::of(self.row, &self.measures)
        }
    }

    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        explain(self.row, &self.measures, to)
    }
}

/// Returns the names of a row in other tools. Those of libraries are many: `--as` lists them.
fn foreign(row: &Definition) -> impl Iterator<Item = &'static Foreign> {
    let name = row.name;
    let is_of_library = |foreign: &&Foreign| matches!(foreign.tool, Tool::Library(_));
    FOREIGN.iter().filter(move |foreign| foreign.measure == name && !is_of_library(foreign))
}

/// Returns other names of a row that mean it with the default parameters, and are not the name of
/// another measure in another tool.
fn aliases(row: &Definition) -> Vec<&'static str> {
    let is_row = |(of, _): &(&Definition, Option<Measure>)| of.name == row.name;
    let mut names: Vec<&str> = Vec::new();
    for foreign in foreign(row).filter(|foreign| foreign.bare && foreign.fixed.is_empty()) {
        let alone = meanings(&foreign.example()).is_ok_and(|meant| meant.iter().all(is_row));
        if alone && foreign.name != row.name && !names.contains(&foreign.name) {
            names.push(foreign.name);
        }
    }
    names
}

/// Returns the measures that an example of a foreign name means, such as `R@10`.
fn meaning(foreign: &Foreign) -> String {
    foreign.meaning().iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn json(value: &impl Serialize, to: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *to, value)?;
    writeln!(to)
}

/// The words that a list has for each measure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Words {
    /// The words of the field, and how the values of queries become one.
    Field,
    /// Plain words.
    Plain,
}

/// The columns of a list that is not on a terminal.
const COLUMNS: usize = 80;

/// Lists the rows that `is_listed` picks.
fn list(
    words: Words,
    is_listed: impl Fn(&Definition) -> bool,
    to: &mut dyn Write,
) -> io::Result<()> {
    let listed: Vec<&Definition> = MEASURES.iter().filter(|row| is_listed(row)).collect();
    let longest = |head: &str, text: fn(&Definition) -> String| {
        listed.iter().map(|row| text(row).len()).max().unwrap_or(0).max(head.len())
    };
    let names = longest("measure", spelling);
    let averages = longest("average", |row| row.average.name().to_string());
    let left = |name: &str, average: &str| match words {
        Words::Field => format!("{name:names$}  {average:averages$}  "),
        Words::Plain => format!("{name:names$}  "),
    };
    let width = stdout_width().unwrap_or(COLUMNS);
    writeln!(to, "{}what it measures", left("measure", "average"))?;
    writeln!(to, "{}", "─".repeat(width.min(110)))?;
    for (status, heading) in [
        ("everyday", ""),
        ("special", "\nfor special questions\n"),
        ("historical", "\nto compare with old results\n"),
    ] {
        let mut heading = Some(heading);
        for row in listed.iter().filter(|row| row.traits.status.name() == status) {
            write!(to, "{}", heading.take().unwrap_or_default())?;
            let text = if words == Words::Plain { row.plain } else { row.doc };
            let left = left(&spelling(row), row.average.name().name());
            writeln!(to, "{left}{}", wrap(text, width, left.len()).trim_start())?;
        }
    }
    writeln!(to)?;
    if words == Words::Plain {
        writeln!(to, "{}", wrap(CUTOFF, width, 0))?;
    }
    writeln!(to, "{}", wrap(MORE, width, 0))
}

/// The meaning of k in plain words.
const CUTOFF: &str = "k is the number behind @, as in P@10; without it, all results count.";

/// The line behind a list.
const MORE: &str = "`laneval measures NAME` explains one in full: formula, parameters, names in \
                    other tools, source.";

/// Writes the name with its cutoff: `P@k`, `AP[@k]`, `IPrec@x`.
fn spelling(row: &Definition) -> String {
    format!("{}{}", row.name, row.cutoff)
}

fn cutoff(row: &Definition) -> &'static str {
    match row.cutoff {
        CutoffRule::None => "none",
        CutoffRule::Optional => "@k, optional: the first k ranks",
        CutoffRule::Required => "@k, required: the first k ranks",
        CutoffRule::Recall => "@x, required: a level of recall, 0 to 1",
    }
}

/// Writes the measure as a user would ask for it, plain and with each parameter that has an obvious
/// other value.
fn examples(row: &Definition) -> Vec<String> {
    let at = match row.cutoff {
        CutoffRule::None => "",
        CutoffRule::Optional | CutoffRule::Required => "@10",
        CutoffRule::Recall => "@0.1",
    };
    let whole = (row.cutoff == CutoffRule::Optional).then(|| row.name.to_owned());
    let several = matches!(row.cutoff, CutoffRule::Optional | CutoffRule::Required);
    let several = several.then(|| format!("{}@[5,10]", row.name));
    let other = |param: &Param| {
        let value = match param.kind {
            Kind::Level => Some("2"),
            Kind::Word(words) | Kind::NumberOr(_, _, words) => {
                words.iter().copied().find(|word| *word != param.default)
            }
            Kind::Ranks(_) => Some("100"),
            Kind::Gain => Some("exp2"),
            Kind::Number(least, most) => {
                let obvious = ["0.5", "2", "10", "0.9"].into_iter().zip([0.5, 2.0, 10.0, 0.9]);
                let fits = |(value, number): &(&str, f64)| {
                    *value != param.default && (least..=most).contains(number)
                };
                let mut others = obvious.filter(fits);
                others.next().map(|(value, _)| value)
            }
            Kind::Whole(_) => Some("1000000"),
            Kind::Points => Some("[0.2,0.5,0.8]"),
        };
        let needs =
            if param.needs.is_empty() { String::new() } else { format!("{},", param.needs) };
        value.map(|value| {
            let whole = format!("{}({needs}{}={value})", row.name, param.name);
            let cut = format!("{whole}{at}");
            // Some values are those of whole rankings.
            if cut.parse::<Measure>().is_ok() { cut } else { whole }
        })
    };
    let plain = [format!("{}{at}", row.name)].into_iter();
    plain.chain(whole).chain(several).chain(row.params.iter().filter_map(other)).collect()
}

/// Returns the measures of a page: the measures asked for, or else the first example of the row.
fn meant(row: &Definition, asked: &[Measure]) -> Vec<Measure> {
    let plain =
        || meanings(&examples(row)[0]).into_iter().flatten().filter_map(|(_, measure)| measure);
    if asked.is_empty() { plain().collect() } else { asked.to_vec() }
}

/// Writes a property of each measure: once if it is the same for all, otherwise with the names of
/// the measures.
fn of_each(measures: &[Measure], text: impl Fn(&Measure) -> String) -> String {
    let texts: Vec<String> = measures.iter().map(text).collect();
    match texts.first() {
        Some(first) if texts.iter().all(|text| text == first) => first.clone(),
        _ => {
            let named =
                measures.iter().zip(&texts).map(|(measure, text)| format!("{text} ({measure})"));
            named.collect::<Vec<_>>().join("; ")
        }
    }
}

/// Explains a row, and lists those of its measures that were asked for, except the row itself.
fn explain(row: &'static Definition, asked: &[Measure], to: &mut dyn Write) -> io::Result<()> {
    let measures = meant(row, asked);
    let names: Vec<String> = asked.iter().map(ToString::to_string).collect();
    let width = stdout_width().unwrap_or(100).min(100);
    writeln!(to, "{}\n", row.name)?;
    writeln!(to, "{}\n", wrap(row.plain, width, 2))?;
    writeln!(to, "{}\n", wrap(row.doc, width, 2))?;
    let mut field =
        |name: &str, text: &str| writeln!(to, "  {name:<11}{}", wrap(text, width, 13).trim_start());
    if !names.is_empty() && names != [row.name] {
        field("asked for", &names.join(", "))?;
    }
    field("formula", row.formula)?;
    field("cutoff", cutoff(row))?;
    if matches!(row.traits.input, JudgmentInput::Groups(_)) {
        field("needs", &row.traits.input.to_string())?;
    }
    field("average", row.average.name().name())?;
    field("range", &of_each(&measures, |m| m.range().to_string()))?;
    let value = |known: Option<f64>, of: &str| {
        known.map_or(format!("follows from the {of}"), |at| at.to_string())
    };
    let empty = value(row.traits.empty, "judgments");
    let nothing = of_each(&measures, |m| value((row.traits.nothing_relevant)(m), "ranking"));
    field("value", &format!("of an empty ranking: {empty}; where nothing is relevant: {nothing}"))?;
    if row.better != Better::Neither {
        let swaps = |m: &Measure| {
            if (row.traits.better_swaps)(m) {
                "never makes it worse".to_owned()
            } else {
                "can make it worse".to_owned()
            }
        };
        field(
            "swaps",
            &format!("moving the better of two neighbours up {}", of_each(&measures, swaps)),
        )?;
    }
    field("status", &row.traits.status.to_string())?;
    field("source", row.citation)?;
    explain_parameters(row, width, to)?;
    if foreign(row).next().is_some() {
        writeln!(to, "\n  in other tools")?;
    }
    for name in foreign(row) {
        writeln!(to, "    {} of {}: {}", name.example(), name.tool.name(), meaning(name))?;
    }
    writeln!(to, "\n  examples")?;
    examples(row).iter().try_for_each(|example| writeln!(to, "    {example}"))
}

/// Explains the parameters of a row.
fn explain_parameters(
    row: &'static Definition,
    width: usize,
    to: &mut dyn Write,
) -> io::Result<()> {
    if !row.params.is_empty() || row.is_nothing_worth_a_choice() {
        writeln!(to, "\n  parameters")?;
    }
    let nothing = row.is_nothing_worth_a_choice().then_some(&NOTHING);
    for param in row.params.iter().chain(nothing) {
        let default = match param.default {
            "" => String::new(),
            default => format!("; default {default}"),
        };
        let excludes = match param.excludes {
            "" => String::new(),
            other => format!("; not together with {other}"),
        };
        let needs = match param.needs {
            "" => String::new(),
            other => format!("; only together with {other}"),
        };
        writeln!(to, "    {} = {}{default}{excludes}{needs}", param.name, param.kind)?;
        writeln!(to, "{}", wrap(param.doc, width, 8))?;
    }
    Ok(())
}

#[derive(Serialize)]
struct MeasureDescription {
    name: &'static str,
    /// The measures asked for, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    measures: Option<Vec<String>>,
    aliases: Vec<&'static str>,
    foreign: Vec<ForeignName>,
    cutoff: &'static str,
    average: &'static str,
    /// The judgments that the measure needs.
    judgments: String,
    status: &'static str,
    /// The measure to use instead of a historical one.
    successor: Option<&'static str>,
    /// The values of each measure asked for, or of the plain one.
    values: Vec<ValueTraits>,
    /// The meaning of the measure: in plain words (`plain`) and in the words of the field (`doc`).
    plain: &'static str,
    doc: &'static str,
    formula: &'static str,
    citation: &'static str,
    parameters: Vec<Parameter>,
    examples: Vec<String>,
}

/// The properties of the values of a measure.
#[derive(Serialize)]
struct ValueTraits {
    measure: String,
    /// The range in words.
    range: String,
    /// The finite ends of the range.
    least: Option<f64>,
    most: Option<f64>,
    /// Whether all values are whole numbers.
    whole: bool,
    /// The value of an empty ranking; `None` if it follows from the judgments.
    empty: Option<f64>,
    /// The value if nothing is relevant; `None` if it follows from the ranking.
    nothing_relevant: Option<f64>,
    /// Whether a better swap of neighbours never makes the value worse; `None` if no value is
    /// better than another.
    better_swaps: Option<bool>,
}

impl ValueTraits {
    fn of(measure: &Measure) -> Self {
        let row = measure.definition();
        let (range, (least, most)) = (measure.range(), measure.range().bounds());
        let end = |number: f64| Some(number).filter(|number| number.is_finite());
        ValueTraits {
            measure: measure.to_string(),
            range: range.to_string(),
            least: end(least),
            most: end(most),
            whole: matches!(range, Range::Binary | Range::Count),
            empty: row.traits.empty,
            nothing_relevant: (row.traits.nothing_relevant)(measure),
            better_swaps: (row.better != Better::Neither)
                .then(|| (row.traits.better_swaps)(measure)),
        }
    }
}

/// A name in another tool.
#[derive(Serialize)]
struct ForeignName {
    name: &'static str,
    tool: &'static str,
    example: String,
    meaning: Vec<String>,
}

#[derive(Serialize)]
struct Parameter {
    name: &'static str,
    values: String,
    default: Option<&'static str>,
    excludes: Option<&'static str>,
    needs: Option<&'static str>,
    doc: &'static str,
}

impl MeasureDescription {
    fn of(row: &'static Definition, asked: &[Measure]) -> Self {
        let some = |text: &'static str| Some(text).filter(|text| !text.is_empty());
        let parameter = |param: &'static Param| Parameter {
            name: param.name,
            values: param.kind.to_string(),
            default: some(param.default),
            excludes: some(param.excludes),
            needs: some(param.needs),
            doc: param.doc,
        };
        let foreign = foreign(row).map(|foreign| ForeignName {
            name: foreign.name,
            tool: foreign.tool.name(),
            example: foreign.prefixed(&foreign.example()),
            meaning: foreign.meaning().iter().map(ToString::to_string).collect(),
        });
        MeasureDescription {
            name: row.name,
            measures: None,
            aliases: aliases(row),
            foreign: foreign.collect(),
            cutoff: match row.cutoff {
                CutoffRule::None => "none",
                CutoffRule::Optional => "optional",
                CutoffRule::Required => "required",
                CutoffRule::Recall => "recall",
            },
            average: row.average.name().name(),
            judgments: row.traits.input.to_string(),
            status: row.traits.status.name(),
            successor: match row.traits.status {
                Status::Historical { successor } => Some(successor),
                Status::Everyday | Status::Special => None,
            },
            values: meant(row, asked).iter().map(ValueTraits::of).collect(),
            plain: row.plain,
            doc: row.doc,
            formula: row.formula,
            citation: row.citation,
            parameters: {
                let nothing = row.is_nothing_worth_a_choice().then_some(&NOTHING);
                row.params.iter().chain(nothing).map(parameter).collect()
            },
            examples: examples(row),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_parses_to_its_measure() {
        for row in MEASURES {
            for example in examples(row) {
                let meant = meanings(&example).unwrap_or_else(|e| panic!("{e}"));
                assert!(
                    meant.iter().all(|(of, measure)| of.name == row.name && measure.is_some()),
                    "{example}"
                );
            }
        }
    }
}
