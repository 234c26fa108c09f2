//! `laneval measures`: the table of measures, for people and for programs.

use std::io::{self, Write};

use clap::Args;
use laneval::measure::{Average, CutoffRule, Definition, Kind, MEASURES, Param, parse_list};
use serde::Serialize;

use super::choice::{Choice, one_of};
use super::output::Output;
use super::stop::Stop;
use super::style::{stdout_width, wrap};

const EXAMPLES: &str = "\
Examples:
  laneval measures
  laneval measures nDCG
  laneval measures recip_rank --format json";

/// List the measures, or explain one.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Measures {
    /// A measure by any of its names
    name: Option<String>,
    /// How to write it
    #[arg(long, value_name = "FORMAT", default_value = "table", value_parser = one_of(FORMATS))]
    format: Format,
}

/// The formats of descriptions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Format {
    /// Text for people.
    Table,
    /// One JSON document.
    Json,
}

/// The formats of descriptions by name.
pub const FORMATS: &[Choice<Format>] = &[("table", Format::Table, ""), ("json", Format::Json, "")];

/// The way to the measures, for those who ask elsewhere.
pub fn way() -> String {
    let names: Vec<&str> = MEASURES.iter().map(|row| row.name).collect();
    format!(
        "{}\n\n`laneval measures` says what each of them is, `laneval measures NAME` explains one in full.",
        wrap(&format!("Measures: {}.", names.join(", ")), stdout_width().unwrap_or(100), 0)
    )
}

impl Measures {
    /// Runs the command.
    pub fn run(self) -> Result<(), Stop> {
        let one = self.name.as_deref().map(find).transpose()?;
        let output = Output::new(None, &[])?;
        output.write(|to| match (self.format, one) {
            (Format::Table, None) => list(to),
            (Format::Table, Some(row)) => explain(row, to),
            (Format::Json, None) => json(&MEASURES.iter().map(Description::of).collect::<Vec<_>>(), to),
            (Format::Json, Some(row)) => json(&Description::of(row), to),
        })
    }
}

/// The row that a name means: canonical, an alias, or whatever `-m` takes.
fn find(name: &str) -> Result<&'static Definition, Stop> {
    if let Some(row) = MEASURES.iter().find(|row| row.name == name || row.aliases.contains(&name)) {
        return Ok(row);
    }
    let meant = parse_list(name, Default::default())?;
    let row = meant.first().map(|measure| measure.definition());
    row.ok_or_else(|| Stop::new(format!("there is no measure `{name}`")))
}

fn json(value: &impl Serialize, to: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *to, value)?;
    writeln!(to)
}

fn list(to: &mut dyn Write) -> io::Result<()> {
    let longest = |text: fn(&Definition) -> String| MEASURES.iter().map(|row| text(row).len()).max();
    let names = longest(spelling).unwrap_or(0);
    let averages = longest(|row| average(row).to_owned()).unwrap_or(0);
    let width = stdout_width().unwrap_or(usize::MAX);
    writeln!(to, "{:names$}  {:averages$}  what it measures", "measure", "average")?;
    writeln!(to, "{}", "─".repeat(width.min(110)))?;
    for row in MEASURES {
        let indent = names + averages + 4;
        let doc = wrap(row.doc, width, indent);
        writeln!(to, "{:names$}  {:averages$}  {}", spelling(row), average(row), doc.trim_start())?;
    }
    writeln!(to, "\n`laneval measures NAME` explains one in full: formula, parameters, aliases, source.")
}

/// The name with its cutoff: `P@k`, `AP[@k]`, `IPrec@x`.
fn spelling(row: &Definition) -> String {
    format!("{}{}", row.name, row.cutoff)
}

fn average(row: &Definition) -> &'static str {
    match row.average {
        Average::Mean => "mean",
        Average::Sum => "sum",
        Average::Geometric => "geometric",
    }
}

fn cutoff(row: &Definition) -> &'static str {
    match row.cutoff {
        CutoffRule::None => "none",
        CutoffRule::Optional => "@k, optional: the first k ranks",
        CutoffRule::Required => "@k, required: the first k ranks",
        CutoffRule::Recall => "@x, required: a level of recall, 0 to 1",
    }
}

/// The measure as it would be asked for, plain and with each parameter that has an obvious other value.
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
            Kind::Number(..) => ["0.5", "2"].into_iter().find(|value| *value != param.default),
            Kind::Points => Some("[0.2,0.5,0.8]"),
        };
        value.map(|value| format!("{}({}={value}){at}", row.name, param.name))
    };
    let plain = [format!("{}{at}", row.name)].into_iter();
    plain.chain(whole).chain(several).chain(row.params.iter().filter_map(other)).collect()
}

fn explain(row: &Definition, to: &mut dyn Write) -> io::Result<()> {
    let width = stdout_width().unwrap_or(100).min(100);
    writeln!(to, "{}\n", row.name)?;
    writeln!(to, "{}\n", wrap(row.doc, width, 2))?;
    let mut field =
        |name: &str, text: &str| writeln!(to, "  {name:<9}{}", wrap(text, width, 11).trim_start());
    field("formula", row.formula)?;
    field("cutoff", cutoff(row))?;
    field("average", average(row))?;
    if !row.aliases.is_empty() {
        field("aliases", &row.aliases.join(", "))?;
    }
    field("source", row.citation)?;
    if !row.params.is_empty() {
        writeln!(to, "\n  parameters")?;
    }
    for param in row.params {
        let default = match param.default {
            "" => String::new(),
            default => format!("; default {default}"),
        };
        let excludes = match param.excludes {
            "" => String::new(),
            other => format!("; not together with {other}"),
        };
        writeln!(to, "    {} = {}{default}{excludes}", param.name, param.kind)?;
        writeln!(to, "{}", wrap(param.doc, width, 8))?;
    }
    writeln!(to, "\n  examples")?;
    examples(row).iter().try_for_each(|example| writeln!(to, "    {example}"))
}

#[derive(Serialize)]
struct Description {
    name: &'static str,
    aliases: &'static [&'static str],
    cutoff: &'static str,
    average: &'static str,
    doc: &'static str,
    formula: &'static str,
    citation: &'static str,
    parameters: Vec<Parameter>,
    examples: Vec<String>,
}

#[derive(Serialize)]
struct Parameter {
    name: &'static str,
    values: String,
    default: Option<&'static str>,
    excludes: Option<&'static str>,
    doc: &'static str,
}

impl Description {
    fn of(row: &'static Definition) -> Self {
        let some = |text: &'static str| Some(text).filter(|text| !text.is_empty());
        let parameter = |param: &'static Param| Parameter {
            name: param.name,
            values: param.kind.to_string(),
            default: some(param.default),
            excludes: some(param.excludes),
            doc: param.doc,
        };
        Description {
            name: row.name,
            aliases: row.aliases,
            cutoff: match row.cutoff {
                CutoffRule::None => "none",
                CutoffRule::Optional => "optional",
                CutoffRule::Required => "required",
                CutoffRule::Recall => "recall",
            },
            average: row.average.name(),
            doc: row.doc,
            formula: row.formula,
            citation: row.citation,
            parameters: row.params.iter().map(parameter).collect(),
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
                let meant = parse_list(&example, Default::default()).unwrap_or_else(|e| panic!("{e}"));
                assert!(meant.iter().all(|measure| measure.definition().name == row.name), "{example}");
            }
        }
    }
}
