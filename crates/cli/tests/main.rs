//! The command: what it prints, what it writes, and its exit codes.

#[cfg(unix)]
mod action;
#[path = "../../../tests/cases.rs"]
mod cases;
#[cfg(unix)]
mod check;
mod cli;
mod compare;
#[cfg(unix)]
mod convert;
mod folder;
#[cfg(unix)]
mod formats;
#[cfg(unix)]
mod gates;
#[cfg(unix)]
mod golden;
mod groups;
#[cfg(unix)]
mod guide;
#[cfg(unix)]
mod help;
mod identify;
mod info;
mod known;
mod left_out;
mod libraries;
#[cfg(unix)]
mod manners;
#[cfg(unix)]
mod mapped;
mod measures;
mod merge;
#[cfg(unix)]
mod neighbours;
mod nothing;
mod option_table;
mod options;
mod pages;
mod parts;
#[cfg(target_os = "linux")]
mod passages;
mod pipes;
mod platforms;
mod pools;
mod readme;
mod recognised;
mod show;
mod slips;
mod ties;
mod titles;
mod trec;
mod units;
mod verdict;
#[cfg(target_os = "linux")]
mod widths;
mod xorshift;
