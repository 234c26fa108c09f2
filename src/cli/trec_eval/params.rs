//! What stands after the `.` of a measure: cutoffs and other parameters, as trec_eval writes and prints them.

use std::cmp::Ordering;

use super::registry::After;

/// What follows a name in print, our parameters, and our cutoff.
pub type Suffix = (String, String, String);

/// The columns of a measure with these lists of parameters, or with the defaults.
pub fn suffixes(after: &After, lists: &[&str]) -> Result<Vec<Suffix>, String> {
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
        After::Text(_, default) if lists.is_empty() => vec![(none(), (*default).to_owned(), none())],
        After::Text(translate, _) => {
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
    compare: impl Fn(&T, &T) -> Ordering,
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
pub fn integer(text: &str) -> i64 {
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
pub fn points(text: &str) -> Result<String, String> {
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
