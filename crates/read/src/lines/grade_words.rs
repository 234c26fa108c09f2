//! The grades of words, for judgments that have words such as `E` or `true` in the place of numbers.

use std::fmt;
use std::str::FromStr;

use super::{number::finite, options::OptionStyle, shape::not_a_number};
use crate::error::printable;

/// The grades of words that judgments have in the place of numbers, as `E=3,S=2,C=1,I=0`.
///
/// By default `true`, `yes` and `relevant` are 1, and `false`, `no` and `irrelevant` are 0, in any
/// case of letters. Words that are given are met as they are written.
///
/// ```
/// use laneval::GradeWords;
/// let words: GradeWords = "Exact=3,Substitute=2,Irrelevant=0".parse()?;
/// assert_eq!((words.grade(b"Substitute"), words.grade(b"yes")), (Some(2.0), None));
/// assert_eq!(GradeWords::default().grade(b"Yes"), Some(1.0));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GradeWords {
    /// The words with the texts of their grades.
    words: Vec<(String, String)>,
    /// Whether the words are the default.
    is_default: bool,
}

impl Default for GradeWords {
    fn default() -> Self {
        let pairs = [("true yes relevant", "1"), ("false no irrelevant", "0")];
        let words = pairs.iter().flat_map(|(words, grade)| {
            words.split(' ').map(|word| (word.to_owned(), (*grade).to_owned()))
        });
        Self { words: words.collect(), is_default: true }
    }
}

impl GradeWords {
    /// Returns the grade of a word; `None` for any other text.
    pub fn grade(&self, word: &[u8]) -> Option<f64> {
        let is = |own: &[u8]| own == word || self.is_default && own.eq_ignore_ascii_case(word);
        let (_, grade) = self.words.iter().find(|(own, _)| is(own.as_bytes()))?;
        finite(grade.as_bytes())
    }

    /// Returns the grade that a field of text is: a number, or the grade of a word.
    #[doc(hidden)]
    pub fn value(&self, field: &[u8]) -> Option<f64> {
        finite(field).or_else(|| self.grade(field))
    }

    /// Makes the message about a field, of a query and a document, that is no grade.
    #[doc(hidden)]
    pub fn fault(&self, field: &[u8], ids: [&[u8]; 2], options: OptionStyle) -> String {
        format!("grade {}{}", not_a_number(field, ids), self.hint(field, options))
    }

    /// Makes the end of a message about a field that is no grade: which words have grades, or how a
    /// word gets one.
    pub(super) fn hint(&self, field: &[u8], options: OptionStyle) -> String {
        if self.are_given() {
            format!(", and no word of {self}")
        } else if field.iter().all(u8::is_ascii_alphabetic) {
            format!(" (`{}` gives words grades)", options.grades(&printable(field)))
        } else {
            String::new()
        }
    }

    /// Returns whether the words were given, and are not the default.
    pub fn are_given(&self) -> bool {
        !self.is_default
    }
}

impl fmt::Display for GradeWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs = self.words.iter().map(|(word, grade)| format!("{word}={grade}"));
        f.write_str(&pairs.collect::<Vec<_>>().join(","))
    }
}

impl FromStr for GradeWords {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words: Vec<(String, String)> = Vec::new();
        for pair in text.split(',') {
            let (word, grade) = pair
                .rsplit_once('=')
                .map(|(word, grade)| (word.trim(), grade.trim()))
                .filter(|(word, _)| !word.is_empty())
                .ok_or("words and their grades were expected, such as E=3,S=2,C=1,I=0")?;
            if finite(grade.as_bytes()).is_none() {
                return Err(format!("the grade `{grade}` of {word} is not a number"));
            }
            if finite(word.as_bytes()).is_some() {
                return Err(format!("`{word}` is a number, which is its own grade"));
            }
            if words.iter().any(|(other, _)| other == word) {
                return Err(format!("{word} has two grades"));
            }
            words.push((word.to_owned(), grade.to_owned()));
        }
        Ok(Self { words, is_default: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_grades() {
        let words: GradeWords = "E=3, very good = 2.5,a=b=-1".parse().unwrap();
        let grades =
            ["E", "very good", "a=b", "e", "3", ""].map(|word| words.grade(word.as_bytes()));
        assert_eq!(grades, [Some(3.0), Some(2.5), Some(-1.0), None, None, None]);
        assert_eq!(words.to_string(), "E=3,very good=2.5,a=b=-1");
        let usual = GradeWords::default();
        let grades = ["TRUE", "No", "relevant", "Irrelevant", "nope"];
        let grades = grades.map(|word| usual.grade(word.as_bytes()));
        assert_eq!(grades, [Some(1.0), Some(0.0), Some(1.0), Some(0.0), None]);
        assert!(words.are_given() && !usual.are_given());
    }

    #[test]
    fn wrong_words_are_told() {
        let expected = "words and their grades were expected, such as E=3,S=2,C=1,I=0";
        for (text, message) in [
            ("", expected),
            ("E", expected),
            ("E=3,", expected),
            ("=3", expected),
            ("E=high", "the grade `high` of E is not a number"),
            ("E=inf", "the grade `inf` of E is not a number"),
            ("1=3", "`1` is a number, which is its own grade"),
            ("E=3,E=2", "E has two grades"),
        ] {
            assert_eq!(text.parse::<GradeWords>().unwrap_err(), message, "{text}");
        }
    }
}
