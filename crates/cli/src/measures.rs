//! `laneval measures`: the table of measures, for people and for programs.

use std::io::{self, Write};
use std::path::PathBuf;

use laneval::Measure;
use laneval::measure::{
    CutoffRule, Definition, Direction, FOREIGN, ForeignMeasure, JudgmentNeeds, MEASURES,
    NO_RELEVANT, Param, ParamKind, Profile, Range, Status, Tool, parse_with_definitions,
};
use laneval::options::Given;
use serde::Serialize;

use super::{
    cli_error::{CliError, CliResult},
    command_row::{CommandRow, Inputs},
    libraries::{self, LibraryDescription},
    output::{PlainFormat, print_text, write_json},
    style::{comma_list, stdout_width},
    wrapped::{field, wrap},
};

/// `laneval measures`.
pub const COMMAND: CommandRow = CommandRow {
    name: "measures",
    first: "List or explain measures",
    inputs: Some(Inputs {
        name: "NAME",
        first: "Measures to explain, by any name that `eval -m` takes",
        more: "",
        count: (0, usize::MAX),
        is_last: false,
    }),
    examples: &[
        "laneval measures",
        "laneval measures --plain",
        "laneval measures nDCG",
        "laneval measures rbp.95 trec:recall",
        "laneval measures recip_rank --format json",
        "laneval measures --as",
        "laneval measures --as xgboost",
    ],
    page: "measures.md",
    run: |arguments| Measures { given: arguments.given, names: arguments.inputs }.run(),
    ..CommandRow::NEW
};

/// The options of `laneval measures`, and the names of measures to explain.
struct Measures {
    given: Given,
    names: Vec<PathBuf>,
}

/// Returns the text of `-m help` in other commands: the names of all measures, and where to read
/// more.
pub fn list_hint() -> String {
    let names = comma_list(MEASURES.iter().map(|row| row.name));
    format!(
        "{}\n\n`laneval measures` says what each of them is, `laneval measures NAME` explains one \
         in full.",
        wrap(&format!("Measures: {names}."), stdout_width().unwrap_or(100), 0)
    )
}

impl Measures {
    /// Runs `laneval measures`: lists measures, explains some, or lists libraries.
    fn run(self) -> CliResult<()> {
        let format = self.given.required("format")?;
        if self.given.is_given("as") {
            return run_libraries(self.given.text("as"), format);
        }
        let (plain, is_list) = (self.given.flag("plain"), self.names.is_empty());
        let pages = self.pages()?;
        print_text(format == PlainFormat::Table, |to| match format {
            _ if self.given.flag("names") => {
                MEASURES.iter().try_for_each(|row| writeln!(to, "{}", row.name))
            }
            _ if plain && is_list => list(Wording::Plain, |_| true, to),
            _ if plain => {
                list(Wording::Plain, |row| pages.iter().any(|page| page.row.name == row.name), to)
            }
            PlainFormat::Table if is_list => list(Wording::Technical, |_| true, to),
            PlainFormat::Table => pages.iter().enumerate().try_for_each(|(at, page)| {
                if at > 0 {
                    writeln!(to)?;
                }
                page.write(to)
            }),
            PlainFormat::Json if is_list => write_json(
                &MEASURES.iter().map(|row| MeasureDescription::new(row, &[])).collect::<Vec<_>>(),
                to,
            ),
            PlainFormat::Json => match pages.as_slice() {
                // One name has one object, for programs that ask for one.
                [page] => write_json(&page.describe(), to),
                pages => {
                    write_json(&pages.iter().map(MeasurePage::describe).collect::<Vec<_>>(), to)
                }
            },
        })
    }

    /// Parses the arguments of `laneval measures NAME` to a page for each measure; all wrong names
    /// are reported together.
    fn pages(&self) -> CliResult<Vec<MeasurePage>> {
        let (mut pages, mut wrong) = (Vec::<MeasurePage>::new(), Vec::new());
        for name in &self.names {
            match parse_with_definitions(&name.to_string_lossy()) {
                Ok(meant) => meant
                    .into_iter()
                    .for_each(|(row, measure)| MeasurePage::add(&mut pages, row, measure)),
                Err(laneval::Error::Measures(unknown)) => {
                    wrong.extend(unknown.iter().map(ToString::to_string))
                }
                Err(error) => wrong.push(error.to_string()),
            }
        }
        if wrong.is_empty() { Ok(pages) } else { Err(CliError::Failed(wrong)) }
    }
}

/// Prints the libraries whose evaluation laneval can follow, or the names of measures in one, for
/// `measures --as`.
fn run_libraries(name: Option<&str>, format: PlainFormat) -> CliResult<()> {
    let library = name.map(Profile::from_prefix).transpose()?;
    print_text(format == PlainFormat::Table, |to| match (format, library) {
        (PlainFormat::Table, None) => libraries::list(to),
        (PlainFormat::Table, Some(library)) => libraries::explain(library, to),
        (PlainFormat::Json, None) => {
            let described: Vec<_> = Profile::ALL.iter().map(LibraryDescription::new).collect();
            write_json(&described, to)
        }
        (PlainFormat::Json, Some(library)) => write_json(&LibraryDescription::new(library), to),
    })
}

/// The page of `laneval measures NAME`: a row of the table of measures, and the requested variants
/// of it.
struct MeasurePage {
    row: &'static Definition,
    measures: Vec<Measure>,
}

impl MeasurePage {
    /// Adds a requested measure to the page of its row in the table of measures; makes the page if
    /// there is none.
    fn add(pages: &mut Vec<Self>, row: &'static Definition, measure: Option<Measure>) {
        let at = pages.iter().position(|page| page.row.name == row.name).unwrap_or_else(|| {
            pages.push(Self { row, measures: Vec::new() });
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
            ..MeasureDescription::new(self.row, &self.measures)
        }
    }

    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        explain(self.row, &self.measures, to)
    }
}

/// Returns the names of a measure in other tools, except libraries. Those of libraries are many:
/// `--as` lists them.
fn foreign(row: &Definition) -> impl Iterator<Item = &'static ForeignMeasure> {
    let name = row.name;
    FOREIGN
        .iter()
        .filter(move |foreign| foreign.measure == name && !matches!(foreign.tool, Tool::Library(_)))
}

/// Returns other names of a measure with its default parameters, unless another tool means another
/// measure by them.
fn aliases(row: &Definition) -> Vec<&'static str> {
    let mut names: Vec<&str> = Vec::new();
    for foreign in foreign(row).filter(|foreign| foreign.bare && foreign.fixed.is_empty()) {
        let alone = parse_with_definitions(&foreign.example())
            .is_ok_and(|meant| meant.iter().all(|(definition, _)| definition.name == row.name));
        if alone && foreign.name != row.name && !names.contains(&foreign.name) {
            names.push(foreign.name);
        }
    }
    names
}

/// The wording of the list of `laneval measures`: technical terms, or plain words (`--plain`).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wording {
    /// The words of the field, and how the values of queries become one.
    Technical,
    /// Plain words.
    Plain,
}

/// The columns of a list that is not on a terminal.
const COLUMNS: usize = 80;

/// Writes the list of the measures that `is_listed` picks, for `laneval measures`.
fn list(
    words: Wording,
    is_listed: impl Fn(&Definition) -> bool,
    to: &mut dyn Write,
) -> io::Result<()> {
    let listed: Vec<&Definition> = MEASURES.iter().filter(|row| is_listed(row)).collect();
    let names = longest("measure", listed.iter().map(|row| spelling(row).len()));
    let averages = longest("average", listed.iter().map(|row| row.average.name().name().len()));
    let left = |name: &str, average: &str| match words {
        Wording::Technical => format!("{name:names$}  {average:averages$}  "),
        Wording::Plain => format!("{name:names$}  "),
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
            let text = if words == Wording::Plain { row.plain } else { row.doc };
            let left = left(&spelling(row), row.average.name().name());
            writeln!(to, "{left}{}", wrap(text, width, left.len()).trim_start())?;
        }
    }
    writeln!(to)?;
    if words == Wording::Plain {
        writeln!(to, "{}", wrap(CUTOFF, width, 0))?;
    }
    writeln!(to, "{}", wrap(MORE, width, 0))
}

/// Returns the width of a column: that of its heading or of its longest text.
fn longest(heading: &str, lengths: impl Iterator<Item = usize>) -> usize {
    lengths.fold(heading.len(), usize::max)
}

/// The meaning of k in plain words.
const CUTOFF: &str = "k is the number behind @, as in P@10; without it, all results count.";

/// The line behind a list.
const MORE: &str = "`laneval measures NAME` explains one in full: formula, parameters, names in \
                    other tools, source.";

/// Returns the name of a measure with its cutoff, as in `P@k`, `AP[@k]` and `IPrec@x`.
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

/// Returns examples of a measure for `-m`: plain, and with each parameter that has an obvious other
/// value.
fn examples(row: &Definition) -> Vec<String> {
    let at = match row.cutoff {
        CutoffRule::None => "",
        CutoffRule::Optional | CutoffRule::Required => "@10",
        CutoffRule::Recall => "@0.1",
    };
    let whole = (row.cutoff == CutoffRule::Optional).then(|| row.name.to_owned());
    let several = matches!(row.cutoff, CutoffRule::Optional | CutoffRule::Required);
    let several = several.then(|| format!("{}@[5,10]", row.name));
    let others = row.params.iter().filter_map(|param| {
        let value = other_value(param)?;
        let needs =
            if param.needs.is_empty() { String::new() } else { format!("{},", param.needs) };
        let whole = format!("{}({needs}{}={value})", row.name, param.name);
        let cut = format!("{whole}{at}");
        // Some values are those of whole rankings.
        Some(if cut.parse::<Measure>().is_ok() { cut } else { whole })
    });
    let plain = [format!("{}{at}", row.name)].into_iter();
    plain.chain(whole).chain(several).chain(others).collect()
}

/// Returns an obvious value of a measure's parameter, other than its default, for an example.
fn other_value(param: &Param) -> Option<&'static str> {
    match param.kind {
        ParamKind::Level => Some("2"),
        ParamKind::Choice(words) | ParamKind::NumberOrChoice(_, _, words) => {
            words.iter().copied().find(|word| *word != param.default)
        }
        ParamKind::Ranks(_) => Some("100"),
        ParamKind::Gain => Some("exp2"),
        ParamKind::Number(least, most) => {
            let obvious = [("0.5", 0.5), ("2", 2.0), ("10", 10.0), ("0.9", 0.9)];
            let mut fitting = obvious.into_iter().filter(|(value, number)| {
                *value != param.default && (least..=most).contains(number)
            });
            fitting.next().map(|(value, _)| value)
        }
        ParamKind::Whole(_) => Some("1000000"),
        ParamKind::Points => Some("[0.2,0.5,0.8]"),
    }
}

/// Returns the measures of a page of `laneval measures`: the requested ones, or else the first
/// example.
fn meant(row: &Definition, requested: &[Measure]) -> Vec<Measure> {
    if !requested.is_empty() {
        return requested.to_vec();
    }
    let plain = parse_with_definitions(&examples(row)[0]).into_iter().flatten();
    plain.filter_map(|(_, measure)| measure).collect()
}

/// Returns the text of a property of some measures: once if all share it, otherwise with their
/// names.
fn property_text(measures: &[Measure], text: impl Fn(&Measure) -> String) -> String {
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

/// Writes the page of `laneval measures NAME`: meaning, formula, parameters, and names in other
/// tools.
fn explain(row: &'static Definition, requested: &[Measure], to: &mut dyn Write) -> io::Result<()> {
    let measures = meant(row, requested);
    let names = comma_list(requested);
    let width = stdout_width().unwrap_or(100).min(100);
    writeln!(to, "{}\n", row.name)?;
    writeln!(to, "{}\n", wrap(row.plain, width, 2))?;
    writeln!(to, "{}\n", wrap(row.doc, width, 2))?;
    if !names.is_empty() && names != row.name {
        field(to, width, "asked for", &names)?;
    }
    field(to, width, "formula", row.formula)?;
    field(to, width, "cutoff", cutoff(row))?;
    if matches!(row.traits.input, JudgmentNeeds::Facets(_)) {
        field(to, width, "needs", &row.traits.input.to_string())?;
    }
    field(to, width, "average", row.average.name().name())?;
    field(to, width, "range", &property_text(&measures, |m| m.range().to_string()))?;
    let empty = value_text(row.traits.empty, "judgments");
    let nothing =
        property_text(&measures, |m| value_text((row.traits.nothing_relevant)(m), "ranking"));
    let value = format!("of an empty ranking: {empty}; where nothing is relevant: {nothing}");
    field(to, width, "value", &value)?;
    if row.better != Direction::Neither {
        let swaps = property_text(&measures, |measure| {
            let does = if (row.traits.better_swaps)(measure) { "never makes" } else { "can make" };
            format!("{does} it worse")
        });
        let swaps = format!("moving the better of two neighbours up {swaps}");
        field(to, width, "swaps", &swaps)?;
    }
    field(to, width, "status", &row.traits.status.to_string())?;
    field(to, width, "source", row.citation)?;
    explain_parameters(row, width, to)?;
    if foreign(row).next().is_some() {
        writeln!(to, "\n  in other tools")?;
    }
    for name in foreign(row) {
        let meaning = comma_list(name.meaning());
        writeln!(to, "    {} of {}: {meaning}", name.example(), name.tool.name())?;
    }
    writeln!(to, "\n  examples")?;
    examples(row).iter().try_for_each(|example| writeln!(to, "    {example}"))
}

/// Formats a value that a measure has in a special case, or says that it follows from `source`.
fn value_text(known: Option<f64>, source: &str) -> String {
    known.map_or(format!("follows from the {source}"), |value| value.to_string())
}

/// Writes the parameters of a measure, with their values and defaults, for `laneval measures NAME`.
fn explain_parameters(
    row: &'static Definition,
    width: usize,
    to: &mut dyn Write,
) -> io::Result<()> {
    if !row.params.is_empty() || row.has_no_relevant_param() {
        writeln!(to, "\n  parameters")?;
    }
    let nothing = row.has_no_relevant_param().then_some(&NO_RELEVANT);
    for param in row.params.iter().chain(nothing) {
        write!(to, "    {} = {}", param.name, param.kind)?;
        for (text, other) in [
            ("default", param.default),
            ("not together with", param.excludes),
            ("only together with", param.needs),
        ] {
            if !other.is_empty() {
                write!(to, "; {text} {other}")?;
            }
        }
        writeln!(to)?;
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

/// The properties of a measure's values in the JSON of `laneval measures`, such as range and
/// special cases.
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
    fn new(measure: &Measure) -> Self {
        let row = measure.definition();
        let (range, (least, most)) = (measure.range(), measure.range().bounds());
        // JSON has no infinite numbers.
        let [least, most] =
            [least, most].map(|number| Some(number).filter(|number| number.is_finite()));
        Self {
            measure: measure.to_string(),
            range: range.to_string(),
            least,
            most,
            whole: matches!(range, Range::Binary | Range::Count),
            empty: row.traits.empty,
            nothing_relevant: (row.traits.nothing_relevant)(measure),
            better_swaps: (row.better != Direction::Neither)
                .then(|| (row.traits.better_swaps)(measure)),
        }
    }
}

/// The name of a measure in another tool, in the JSON of `laneval measures`.
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

impl From<&'static Param> for Parameter {
    fn from(param: &'static Param) -> Self {
        // The table of parameters has "" for nothing; JSON has null.
        let [default, excludes, needs] = [param.default, param.excludes, param.needs]
            .map(|text| Some(text).filter(|text| !text.is_empty()));
        let Param { name, doc, .. } = *param;
        Self { name, values: param.kind.to_string(), default, excludes, needs, doc }
    }
}

impl MeasureDescription {
    fn new(row: &'static Definition, requested: &[Measure]) -> Self {
        let foreign = foreign(row).map(|foreign| ForeignName {
            name: foreign.name,
            tool: foreign.tool.name(),
            example: foreign.prefixed(&foreign.example()),
            meaning: foreign.meaning().iter().map(ToString::to_string).collect(),
        });
        Self {
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
            values: meant(row, requested).iter().map(ValueTraits::new).collect(),
            plain: row.plain,
            doc: row.doc,
            formula: row.formula,
            citation: row.citation,
            parameters: {
                let nothing = row.has_no_relevant_param().then_some(&NO_RELEVANT);
                row.params.iter().chain(nothing).map(Parameter::from).collect()
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
                let meant = parse_with_definitions(&example).unwrap_or_else(|e| panic!("{e}"));
                assert!(
                    meant
                        .iter()
                        .all(|(definition, measure)| definition.name == row.name
                            && measure.is_some()),
                    "{example}"
                );
            }
        }
    }
}
