//! Which definition is this number: of all definitions of a measure, those that give it on the
//! judgments and the run at hand.
//!
//! A *definition* is a measure with its parameters and the options of an evaluation: how equal
//! scores are ordered, which relevant documents are known, what becomes of queries without any.
//! Definitions with the same value of every query on these data are one *class*, for no number of
//! these data can tell them apart; so a class is the answer. It is named by its simplest member,
//! and by the libraries in it.
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
//! use laneval::identify::{Identify, IdentifyVerdict};
//! use laneval::Join;
//!
//! let join = Join { keep_ties: true, ..Join::default() };
//! let matrix = join.files("examples/data/demo.qrels", ["examples/data/demo-bm25.run"])?;
//! let found = Identify::new(&matrix)?.number("nDCG@5", "0.5541")?.run()?;
//! assert_eq!(found.verdict, IdentifyVerdict::Likely);
//! assert_eq!(found.candidates[0].measure.to_string(), "nDCG(gain=exp2)@5");
//! # Ok::<(), laneval::Error>(())
//! ```

mod answers;
mod chance;
mod classes;
mod described;
mod digests;
mod joins;
mod libraries;
mod making;
mod orders;
mod policy;
mod printed;
mod questions;
mod spellings;
mod sums;
mod told;
mod views;

use std::fmt;

use crate::measure::{Measure, Seen};

pub use joins::joined_in_every_order;
pub use making::Identify;
pub use printed::PrintedAs;
pub use told::ToldRow;

/// What became of the question which definition a number is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentifyVerdict {
    /// One class fits everything, and hardly another would by chance.
    Found,
    /// One class fits everything, and another could by chance.
    Likely,
    /// Several classes fit, or one of them would be expected to by chance.
    Undecided,
    /// No class fits.
    None,
}

impl IdentifyVerdict {
    /// Every verdict, with its name.
    pub const ALL: [(&'static str, IdentifyVerdict); 4] = [
        ("found", IdentifyVerdict::Found),
        ("likely", IdentifyVerdict::Likely),
        ("undecided", IdentifyVerdict::Undecided),
        ("none", IdentifyVerdict::None),
    ];

    /// Whether the verdict names one definition.
    pub fn names_one(self) -> bool {
        matches!(self, IdentifyVerdict::Found | IdentifyVerdict::Likely)
    }
}

impl fmt::Display for IdentifyVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = IdentifyVerdict::ALL.iter().find(|(_, verdict)| verdict == self);
        f.pad(named.map_or("", |(name, _)| name))
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Identified {
    /// The verdict; of several questions, that of the least sure one.
    pub verdict: IdentifyVerdict,
    /// The number of other classes that are expected to print the same numbers by chance.
    pub chance: f64,
    /// The number of definitions that were tried.
    pub definitions: u64,
    /// The number of classes that they are on these data.
    pub classes: u64,
    /// The numbers asked about: name, if there is one, and value as it was given.
    pub numbers: Vec<(String, String)>,
    /// The number of queries whose values were given and could be compared.
    pub told: Option<u64>,
    /// The classes that fit, the best first.
    pub candidates: Vec<Candidate>,
    /// The number of classes that fit, which may be more than are listed.
    pub fitting: u64,
    /// The classes that come next.
    pub nearest: Vec<Candidate>,
    /// What would decide between candidates, or make the answer surer.
    pub advice: String,
    /// Remarks on what was given.
    pub notes: Vec<String>,
}

/// A class of definitions.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The measure of its simplest member.
    pub measure: Measure,
    /// The options of its simplest member that differ from the defaults: `("ties", "average")`.
    pub options: Vec<(&'static str, String)>,
    /// Its value; `None` if no query counts.
    pub value: Option<f64>,
    /// How its value was printed.
    pub printed: PrintedAs,
    /// The number of queries whose value is the one given.
    pub agree: Option<u64>,
    /// The number of queries on which the next class prints another value.
    pub telling: Option<u64>,
    /// The number of definitions in the class.
    pub members: u64,
    /// What can be changed in its simplest member without changing any value here: `--score f32`.
    pub same_here: Vec<String>,
    /// The libraries that compute a member of it.
    pub libraries: Vec<IdentifiedLibrary>,
    /// Of a class that does not fit: the queries on which it differs, in words.
    pub differs: String,
}

impl Candidate {
    /// The simplest member as it is asked for: the measure and its options.
    pub fn spelled(&self) -> String {
        let options = self.options.iter().map(|(name, word)| spelled_option(name, word));
        std::iter::once(self.measure.to_string()).chain(options).collect::<Vec<_>>().join(" ")
    }
}

/// A library that computes a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentifiedLibrary {
    /// The name of the library.
    pub library: &'static str,
    /// Its name of the measure.
    pub name: String,
    /// How it is known.
    pub seen: Seen,
    /// The options in which it evaluates otherwise, where no library evaluates just so:
    /// `--ties input`.
    pub differs: String,
}

/// An option as it is given to the command.
fn spelled_option(name: &str, word: &str) -> String {
    match name {
        "judged_only" => "-J".to_owned(),
        "depth" => format!("-M {word}"),
        "nothing" => format!("nothing={word}"),
        "rounding" => format!("(each query rounded to {word} decimals)"),
        _ => format!("--{name} {word}"),
    }
}
