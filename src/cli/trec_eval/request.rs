//! From `-m` options to columns: which measures are printed under which names.

use laneval::measure::{Average, Defaults, Measure, parse_list};

use super::registry::{After, Entry, OTHER_NICKNAMES, REGISTRY, What};
use super::{INPUT, Profile, USAGE};
use crate::cli::stop::Stop;

/// What is printed, in this order, and what is evaluated for it.
pub struct Request {
    pub columns: Vec<Column>,
    pub measures: Vec<Measure>,
}

/// One value of a topic, one line of the output.
pub struct Column {
    /// The name as printed.
    pub name: String,
    pub source: Source,
}

/// Where a column's value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The run id.
    RunId,
    /// So many labels.
    Labels(u32),
    /// The measure of this index.
    Measure(usize, Lines),
}

/// Which lines a measure has, and of what kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// A number of topics, only for all of them.
    Topics,
    /// A count, for each topic and summed.
    Count,
    /// A count of relevant documents of the qrels.
    Relevant,
    /// A number, for each topic and averaged.
    Real,
    /// A number, only averaged.
    Geometric,
}

impl Request {
    /// The columns of the measures asked for, each given as `name` or `name.params`.
    pub fn new(asked: &[String], profile: Profile, level: f64, documents: u64) -> Result<Self, Stop> {
        let asked = Asked::new(asked, profile)?;
        let mut request = Request { columns: Vec::new(), measures: Vec::new() };
        for (entry, params) in REGISTRY.iter().zip(asked.0) {
            let Some(params) = params else { continue };
            request
                .add(entry, &params, profile, level, documents)
                .map_err(|message| Stop::coded(INPUT, format!("-m {}: {message}", entry.name)))?;
        }
        Ok(request)
    }

    fn add(
        &mut self,
        entry: &Entry,
        params: &[&str],
        profile: Profile,
        level: f64,
        documents: u64,
    ) -> Result<(), String> {
        let (ours, fixed, after) = match &entry.what {
            What::RunId => return self.column(entry.name.to_owned(), Source::RunId),
            What::RelString(length) => return self.labels(entry.name, *length, params),
            What::OtherFormat => {
                return Err(
                    "this measure needs another format than qrels, which is not supported yet".to_owned()
                );
            }
            What::Measure(ours, fixed, after) => (*ours, *fixed, after),
        };
        let cut = if profile == Profile::V10 { "v10" } else { "v9" };
        let fixed = fixed.replace("{cut}", cut).replace("{docs}", &documents.to_string());
        let fixed = match ours {
            "RBP" if params.is_empty() => format!("{fixed},p=0.9"),
            _ => fixed,
        };
        for (suffix, params, place) in suffixes(after, params)? {
            let all: Vec<&str> =
                [fixed.as_str(), params.as_str()].into_iter().filter(|p| !p.is_empty()).collect();
            let params = if all.is_empty() { String::new() } else { format!("({})", all.join(",")) };
            let measures = parse_list(&format!("{ours}{params}{place}"), Defaults { rel: level });
            let measure = measures.map_err(|error| error.to_string())?.remove(0);
            let lines = match (ours, measure.definition().average) {
                ("NumQ", _) => Lines::Topics,
                ("NumRel", _) => Lines::Relevant,
                (_, Average::Sum) => Lines::Count,
                (_, Average::Geometric) => Lines::Geometric,
                (_, Average::Mean) => Lines::Real,
            };
            self.measures.push(measure);
            self.column(format!("{}{suffix}", entry.name), Source::Measure(self.measures.len() - 1, lines))?;
        }
        Ok(())
    }

    fn column(&mut self, name: String, source: Source) -> Result<(), String> {
        self.columns.push(Column { name, source });
        Ok(())
    }

    fn labels(&mut self, name: &str, length: u32, params: &[&str]) -> Result<(), String> {
        if params.is_empty() {
            return self.column(name.to_owned(), Source::Labels(length));
        }
        params.iter().try_for_each(|text| {
            self.column(
                format!("{name}_{text}"),
                Source::Labels(integer(text).clamp(0, i64::from(u32::MAX)) as u32),
            )
        })
    }
}

/// For each measure of the registry the parameters given, if it is asked for at all.
struct Asked<'a>(Vec<Option<Vec<&'a str>>>);

impl<'a> Asked<'a> {
    fn new(names: &'a [String], profile: Profile) -> Result<Self, Stop> {
        let mut asked = Asked(REGISTRY.iter().map(|_| None).collect());
        for text in names {
            let (name, params) = match text.split_once('.') {
                Some((name, params)) => (name, Some(params)),
                None => (text.as_str(), None),
            };
            if OTHER_NICKNAMES.contains(&name) {
                let message = format!(
                    "-m {name}: these measures need another format than qrels, which is not supported yet"
                );
                return Err(Stop::coded(INPUT, message));
            }
            if !asked.mark(name, params, profile) {
                return Err(Stop::coded(USAGE, format!("-m {text}: there is no measure `{name}`")));
            }
        }
        Ok(asked)
    }

    /// Marks the measures of a name; `false` if there are none.
    fn mark(&mut self, name: &str, params: Option<&'a str>, profile: Profile) -> bool {
        let mut found = false;
        for (entry, asked) in REGISTRY.iter().zip(&mut self.0) {
            if (entry.is_new() && profile == Profile::V9)
                || !entry.belongs(name).unwrap_or(entry.name == name)
            {
                continue;
            }
            found = true;
            let asked = asked.get_or_insert_default();
            asked.extend(params.filter(|params| !params.is_empty() && !asked.contains(params)));
        }
        found
    }
}

/// What follows a name in print, our parameters, and our cutoff.
type Suffix = (String, String, String);

fn suffixes(after: &After, lists: &[&str]) -> Result<Vec<Suffix>, String> {
    let none = String::new;
    Ok(match after {
        After::Nothing => vec![(none(), none(), none())],
        After::Ranks(defaults) => {
            let ranks = match lists {
                [] => defaults.iter().map(|&rank| i64::from(rank)).collect(),
                lists => merged(lists, integer, |a, b| a.cmp(b))?,
            };
            if ranks.first().is_some_and(|&rank| rank < 1) {
                return Err("a cutoff is at least 1".to_owned());
            }
            ranks.iter().map(|rank| (format!("_{rank}"), none(), format!("@{rank}"))).collect()
        }
        After::Recalls(defaults) => {
            let recalls = numbers(defaults, lists)?;
            recalls.iter().map(|x| (format!("_{x:3.2}"), none(), format!("@{x}"))).collect()
        }
        After::Each(key, defaults) => {
            let values = numbers(defaults, lists)?;
            values.iter().map(|x| (format!("_{x:3.2}"), format!("{key}={x}"), none())).collect()
        }
        After::Text(_) if lists.is_empty() => vec![(none(), none(), none())],
        After::Text(translate) => {
            let translated = lists.iter().map(|text| Ok((format!("_{text}"), translate(text)?, none())));
            translated.collect::<Result<_, String>>()?
        }
    })
}

fn numbers(defaults: &[f64], lists: &[&str]) -> Result<Vec<f64>, String> {
    match lists {
        [] => Ok(defaults.to_vec()),
        lists => merged(lists, number, f64::total_cmp),
    }
}

/// The cutoffs of all lists, ascending; in one list each may be there only once.
fn merged<T: Clone>(
    lists: &[&str],
    parse: impl Fn(&str) -> T,
    compare: impl Fn(&T, &T) -> std::cmp::Ordering,
) -> Result<Vec<T>, String> {
    let mut all: Vec<T> = Vec::new();
    for list in lists {
        let mut cutoffs: Vec<T> = list.split(',').map(&parse).collect();
        cutoffs.sort_by(&compare);
        if cutoffs.windows(2).any(|pair| compare(&pair[0], &pair[1]).is_eq()) {
            return Err(format!("a cutoff is there twice in `{list}`"));
        }
        all.extend(cutoffs);
    }
    all.sort_by(&compare);
    all.dedup_by(|a, b| compare(a, b).is_eq());
    Ok(all)
}

/// The integer at the start of a text, 0 if there is none.
fn integer(text: &str) -> i64 {
    let ends = (0..=text.len()).rev().filter(|&end| text.is_char_boundary(end));
    ends.map(|end| text[..end].trim_start()).find_map(|start| start.parse().ok()).unwrap_or(0)
}

/// The finite number at the start of a text, 0 if there is none.
fn number(text: &str) -> f64 {
    let ends = (0..=text.len()).rev().filter(|&end| text.is_char_boundary(end));
    let mut found = ends.filter_map(|end| text[..end].trim_start().parse::<f64>().ok());
    found.find(|number| number.is_finite()).unwrap_or(0.0) + 0.0
}

/// `x` of set_F.
pub fn beta2(text: &str) -> Result<String, String> {
    Ok(format!("beta2={}", number(text)))
}

/// The four numbers of utility.
pub fn prices(text: &str) -> Result<String, String> {
    let prices: Vec<f64> = text.split(',').map(number).collect();
    match prices.as_slice() {
        [a, b, c, d] => Ok(format!("a={a},b={b},c={c},d={d}")),
        _ => Err(format!("four numbers were expected, not `{text}`")),
    }
}

/// The levels of recall of 11pt_avg.
pub fn ascending_points(text: &str) -> Result<String, String> {
    let points: Vec<String> = text.split(',').map(|point| number(point).to_string()).collect();
    Ok(format!("points=[{}]", points.join(",")))
}

/// `level=gain,…`; levels that are not whole numbers name no grade.
pub fn gains(text: &str) -> Result<String, String> {
    let mut pairs = Vec::new();
    for pair in text.split(',') {
        let (level, gain) =
            pair.split_once('=').ok_or_else(|| format!("`{pair}` is not a pair level=gain"))?;
        if let Ok(level) = level.trim().parse::<i64>() {
            pairs.push(format!("{level}:{}", number(gain)));
        }
    }
    Ok(if pairs.is_empty() { String::new() } else { format!("gain={{{}}}", pairs.join(",")) })
}

/// `p=…` of rbp and rbp_resid.
pub fn persistence(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some(("p", p)) if !p.contains(',') => Ok(format!("p={}", number(p))),
        _ => Err(format!("only p=… is supported, no gains of grades: `{text}`")),
    }
}
