//! The results of gates as JUnit's XML, which build servers read: a case for each gate, run and
//! group.

use std::io::{self, Write};

use super::whole::{ComparisonReport, GateCase};
use crate::error::printable;
use crate::report::html::markup::{Attributes, Elements};

/// Writes the gates of a report.
pub fn write(report: &ComparisonReport<'_>, to: &mut impl Write) -> io::Result<()> {
    write_cases("laneval compare", &report.cases(), to)
}

/// Writes cases as one suite with a name.
pub fn write_cases(suite: &str, cases: &[GateCase], to: &mut impl Write) -> io::Result<()> {
    let mut document = Elements::default();
    let (tests, failures) = (cases.len(), cases.iter().filter(|case| case.failed).count());
    document.element(
        "testsuites",
        &[
            ("name", &"laneval"),
            ("tests", &tests),
            ("failures", &failures),
            ("errors", &0),
            ("time", &0),
        ],
        |inside| {
            let counts: Attributes = &[
                ("name", &suite),
                ("tests", &tests),
                ("failures", &failures),
                ("errors", &0),
                ("skipped", &0),
                ("time", &0),
            ];
            inside.element("testsuite", counts, |inside| {
                cases.iter().for_each(|case| write_case(case, inside))
            });
        },
    );
    writeln!(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    to.write_all(document.as_str().as_bytes())?;
    writeln!(to)
}

/// Writes a case: a failed gate as a failure, a passed gate with its sentence as output.
fn write_case(case: &GateCase, to: &mut Elements) {
    let [run, gate, told] =
        [&case.run, &case.gate, &case.told].map(|text| printable(text.as_bytes()));
    to.element("testcase", &[("classname", &run), ("name", &gate), ("time", &0)], |inside| {
        if case.failed {
            inside.line(
                "failure",
                &[("message", &told), ("type", &"gate")],
                format_args!("{run}: {gate}: {told}"),
            )
        } else {
            inside.line("system-out", &[], &told)
        }
    });
}
