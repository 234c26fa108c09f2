//! The results of a comparison's gates as JUnit XML for build servers, a test case for each gate,
//! run and group.

use std::io::{self, Write};

use super::report::{ComparisonReport, GateCase};
use crate::report::html::markup::{Attributes, Elements};
use crate::report::run_name::visible;

/// Writes the results of a comparison's gates as JUnit XML.
pub fn write(report: &ComparisonReport<'_>, to: &mut impl Write) -> io::Result<()> {
    write_cases("laneval compare", &report.cases(), to)
}

/// Writes results of gates as JUnit XML, one test suite with this name.
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

/// Writes the result of a gate as a JUnit test case: a failure, or the sentence of a passed gate as
/// output.
fn write_case(case: &GateCase, to: &mut Elements) {
    let [run, gate, sentence] = [&case.run, &case.gate, &case.sentence].map(visible);
    to.element("testcase", &[("classname", &run), ("name", &gate), ("time", &0)], |inside| {
        if case.failed {
            inside.line(
                "failure",
                &[("message", &sentence), ("type", &"gate")],
                format_args!("{run}: {gate}: {sentence}"),
            )
        } else {
            inside.line("system-out", &[], &sentence)
        }
    });
}
