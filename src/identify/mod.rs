//! The search of `laneval identify` for the definitions of a measure that give a reported number on
//! a run and its judgments.
//!
//! A *definition* is a measure with its parameters and the options of an evaluation: the order of
//! equal scores, the known relevant documents, the value of queries without relevant documents.
//! Definitions with equal values for every query on these data form a *class*: no number of these
//! data tells the members apart. So the answer is a class, named by its simplest member and by its
//! libraries.
//!
//! ```text
//! orders     equal scores × type of scores         │ rankings whose order differs are apart from
//! views      × judged only × known                 │ the others: only they are evaluated once for
//!                                                  │ each order
//! spellings  a measure × its parameters × cutoffs  │ one plan a view
//! policies   × nothing × missing × rounding        │ arithmetic on sums, counts and hashes of the
//!                                                  │ queries' values
//! classes    definitions of one hash               │ a hash is a sum over queries, so it takes no
//!                                                  │ order and no memory
//! ```
//!
//! ```
//! use laneval::identify::{IdentifyBuilder, IdentifyVerdict};
//! use laneval::Join;
//!
//! let join = Join { keep_ties: true, ..Join::default() };
//! let matrix = join.files("examples/data/demo.qrels", ["examples/data/demo-bm25.run"])?;
//! let found = IdentifyBuilder::new(&matrix)?.number("nDCG@5", "0.5541")?.run()?;
//! assert_eq!(found.verdict, IdentifyVerdict::Likely);
//! assert_eq!(found.candidates[0].measure.to_string(), "nDCG(gain=exp2)@5");
//! # Ok::<(), laneval::Error>(())
//! ```

mod builder;
mod candidates;
mod chance;
mod classes;
mod describe;
mod digests;
mod joins;
mod libraries;
mod orders;
mod policy;
mod printed;
mod questions;
mod reported;
mod spellings;
mod sums;
mod views;

use std::fmt;

use crate::measure::{Measure, Provenance};

pub use builder::IdentifyBuilder;
pub use joins::joined_in_every_order;
pub use printed::PrintRounding;
pub use reported::ReportedValue;

/// The verdict of `laneval identify`: the certainty that one definition gave the reported number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentifyVerdict {
    /// One class fits everything, and a second class would hardly fit by chance.
    Found,
    /// One class fits everything, and a second class could fit by chance.
    Likely,
    /// Several classes fit, or a fit by chance is to be expected.
    Undecided,
    /// No class fits.
    None,
}

impl IdentifyVerdict {
    /// Every verdict, with its name.
    pub const ALL: [(&'static str, Self); 4] = [
        ("found", Self::Found),
        ("likely", Self::Likely),
        ("undecided", Self::Undecided),
        ("none", Self::None),
    ];

    /// Returns whether the verdict is for a single class of definitions: `Found` or `Likely`.
    pub fn names_one(self) -> bool {
        matches!(self, IdentifyVerdict::Found | IdentifyVerdict::Likely)
    }
}

impl fmt::Display for IdentifyVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Self::ALL.iter().find(|(_, verdict)| verdict == self);
        f.pad(named.map_or("", |(name, _)| name))
    }
}

/// The answer of `laneval identify`: the verdict, and the classes of definitions that fit the
/// reported number.
#[derive(Debug, Clone, PartialEq)]
pub struct Identification {
    /// The verdict; of several questions, the least sure verdict.
    pub verdict: IdentifyVerdict,
    /// The expected number of wrong classes that print the numbers by chance.
    pub chance: f64,
    /// The number of tried definitions.
    pub definitions: u64,
    /// The number of classes of the definitions on these data.
    pub classes: u64,
    /// The numbers in question: the name, which may be empty, and the value as given.
    pub numbers: Vec<(String, String)>,
    /// The number of queries whose values were given and could be compared.
    pub compared_queries: Option<u64>,
    /// The classes that fit, the best first.
    pub candidates: Vec<Candidate>,
    /// The number of fitting classes, listed or not.
    pub fitting: u64,
    /// The classes that come next.
    pub nearest: Vec<Candidate>,
    /// Advice on how to decide between candidates, or how to make the answer surer.
    pub advice: String,
    /// Remarks on the given numbers and values.
    pub notes: Vec<String>,
}

/// A class of definitions with equal values for every query, described for the answer of `laneval
/// identify`.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The measure of its simplest member.
    pub measure: Measure,
    /// The options of its simplest member that differ from the defaults: `("ties", "average")`.
    pub options: Vec<(&'static str, String)>,
    /// Its value; `None` if no query counts.
    pub value: Option<f64>,
    /// How its value was printed.
    pub printed: PrintRounding,
    /// The number of queries with the given value.
    pub agree: Option<u64>,
    /// The number of queries on which the next class prints another value.
    pub telling: Option<u64>,
    /// The number of definitions in the class.
    pub members: u64,
    /// Changes of the simplest member that change no value here: `--score-type f32`.
    pub same_here: Vec<String>,
    /// The libraries that compute a member of the class.
    pub libraries: Vec<IdentifiedLibrary>,
    /// A description of the queries with differing values, for a class that does not fit; else
    /// empty.
    pub differs: String,
}

impl Candidate {
    /// Returns the simplest definition of the class as measure and options on the command line.
    pub fn spelling(&self) -> String {
        let options = self.options.iter().map(|(name, word)| spelled_option(name, word));
        std::iter::once(self.measure.to_string()).chain(options).collect::<Vec<_>>().join(" ")
    }
}

/// A library that computes a definition, with its name for the measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentifiedLibrary {
    /// The name of the library.
    pub library: &'static str,
    /// The name of the measure in the library.
    pub name: String,
    /// The evidence for the library's definition.
    pub seen: Provenance,
    /// The options in which the library differs from the definition, such as `--ties input`. Listed
    /// only if no library matches the definition exactly.
    pub differs: String,
}

/// Returns an evaluation option with its word as written on the command line.
fn spelled_option(name: &str, word: &str) -> String {
    match name {
        "judged_only" => "-J".to_owned(),
        "depth" => format!("-M {word}"),
        "no_relevant" => format!("{name}={word}"),
        "rounding" => format!("(each query rounded to {word} decimals)"),
        _ => format!("--{name} {word}"),
    }
}
