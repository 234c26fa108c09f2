//! The shortening of run names too long for a terminal: `…` replaces the middle, and different
//! names stay different.

use std::collections::{HashMap, HashSet};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The mark in the place of the removed text.
pub const CUT: char = '…';

/// Shortens names to at most `width` columns of text, so that different names stay different. The
/// cut is as near to the middle as this allows. If no cut keeps all names different, a number
/// replaces the removed text.
pub fn shorten(names: &[&str], width: usize) -> Vec<String> {
    let room = width.saturating_sub(1);
    let half = room / 2;
    // The ends of names tell more than the places next to them: half of it first, then more and
    // less.
    let tails = (0..=half).flat_map(|off| [half + off, half - off]).filter(|&tail| tail <= room);
    for tail in tails {
        let cut: Vec<String> =
            names.iter().map(|name| without_middle(name, width, tail, "")).collect();
        if kinds(&cut) == kinds(names) {
            return cut;
        }
        // In long tables the search would take longer than it is worth.
        if names.len() > 1000 {
            break;
        }
    }
    numbered(names, width)
}

fn kinds<T: AsRef<str>>(names: &[T]) -> usize {
    names.iter().map(AsRef::as_ref).collect::<HashSet<&str>>().len()
}

/// Shortens names with a number in place of the cut middle, the same for equal names.
fn numbered(names: &[&str], width: usize) -> Vec<String> {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let digits = names.len().to_string().len();
    let tail = width.saturating_sub(2 + digits) / 2;
    let mut cut = Vec::new();
    for name in names {
        let next = numbers.len() + 1;
        let number = numbers.entry(name).or_insert(next);
        cut.push(without_middle(name, width, tail, &format!("{number:0digits$}{CUT}")));
    }
    cut
}

/// Shortens a name to `width` columns: `…` and `behind` replace its middle, and `tail` columns stay
/// at its end.
pub fn without_middle(name: &str, width: usize, tail: usize, behind: &str) -> String {
    if name.width() <= width {
        return name.to_owned();
    }
    let head = width.saturating_sub(1 + behind.width() + tail);
    let first = fitting(name.chars(), head);
    let last: String = fitting(name.chars().rev(), tail).chars().rev().collect();
    format!("{first}{CUT}{behind}{last}")
}

/// Returns the first characters of a text that fit into `room` columns.
fn fitting(all: impl Iterator<Item = char>, room: usize) -> String {
    let mut used = 0;
    all.take_while(|letter| {
        used += letter.width().unwrap_or(0);
        used <= room
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_makes_room() {
        assert_eq!(
            shorten(&["short", "experiment-bm25-k1-0.9.run"], 12),
            ["short", "experi…9.run"]
        );
        // A letter of two columns does not fit into one.
        assert_eq!(shorten(&["検索結果の一覧表.run"], 10), ["検索….run"]);
    }

    #[test]
    fn names_stay_different() {
        let names = (1..=3).map(|n| format!("{}{n}bbbb-bbbb-bbbb-bbbb", "a".repeat(20)));
        let names: Vec<String> = names.collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for width in 12..50 {
            let cut = shorten(&names, width);
            assert_eq!(kinds(&cut), 3, "{cut:?}");
            assert!(cut.iter().all(|name| name.width() <= width), "{cut:?}");
        }
        let hidden = [1, 2, 1].map(|n| format!("{}{n}{}", "a".repeat(30), "b".repeat(30)));
        let hidden: Vec<&str> = hidden.iter().map(String::as_str).collect();
        assert_eq!(shorten(&hidden, 12), ["aaaaa…1…bbbb", "aaaaa…2…bbbb", "aaaaa…1…bbbb"]);
    }
}
