//! Writing a GPU kernel's shader as text: WGSL made of the folds' own files, functions that are
//! written here, and a main loop.
//!
//! A *fold* takes the labels of a ranking in order and keeps a small state, such as a count of
//! hits. A *task* is a fold with its parameters and cutoffs, and a *row* is one ranking.
//!
//! Why shaders are put together and not written: WGSL has no generics and no function pointers, and
//! a switch on the kind of fold would be run for every label. So for each kernel a row's type and
//! five small functions are written as text, whose lines call the functions of the folds' own
//! files:
//!
//! ```text
//! common.wgsl           bindings, words, fixed-point numbers
//! count.wgsl, …         the folds that the kernel has
//! struct Row            slot, the place of the row; t0, t1, … the states of the tasks;
//!                       n0, … a number of the query for tasks that need one
//! start, take, label,   for each task its line: (*row).t0 = count((*row).t0, word, 2u);
//! store, keep
//! main.wgsl             one invocation a row: down the ranks, four words at a time,
//!                       store at each cutoff
//! ```
//!
//! A word has four labels of a row, and `take` gets words. A count takes a word whole, by a
//! population count. All other tasks go label by label, after one test that they share: whether any
//! byte exceeds the *least* of their thresholds. Judgments are sparse, so most words end at the
//! test. A count whose threshold is no lower than this least threshold waits for the test too.

use std::ops::Range;

use super::sources::{COMMON, FOLDS, MAIN};
use super::tables::TablePart;
use super::tasks::{IntegerFold as Fold, IntegerProgram, IntegerTask};

/// Writes the WGSL shader of a GPU kernel with `tasks` over `blocks` of ranks. A block is the ranks
/// for which the tables are loaded at once. Returns the source, and the tables that the shader
/// reads.
pub fn shader(
    integers: &IntegerProgram,
    tasks: &[&IntegerTask],
    blocks: &[Range<u32>],
) -> (String, Vec<TablePart>) {
    let mut writer = ShaderWriter { integers, tasks, blocks, tables: Vec::new() };
    let source = writer.whole();
    (source, writer.tables)
}

/// The writer of a GPU kernel's WGSL shader, with the tables that the shader reads.
struct ShaderWriter<'a> {
    integers: &'a IntegerProgram,
    tasks: &'a [&'a IntegerTask],
    blocks: &'a [Range<u32>],
    tables: Vec<TablePart>,
}

/// The pieces of WGSL code for one task of a shader. In them `t` is the state of the task, and
/// `slot` the place of the row in the columns of results.
#[derive(Default)]
struct ShaderLines {
    /// The type of the state.
    state: &'static str,
    /// An expression for a number of the row's query, such as a cap, which `start` reads once.
    number: Option<String>,
    /// The state before the first rank, if it is not zero.
    start: Option<String>,
    step: TaskStep,
    /// Code to store the state at a cutoff in `column`, and in the next columns if the state has
    /// several words.
    store: &'static str,
    /// Code to store the whole state from `column` on for the next block of ranks, and an
    /// expression that restores the state.
    carry: Option<[&'static str; 2]>,
}

impl ShaderLines {
    /// Makes the WGSL code of a task that takes labels one by one, and whose state begins as zeros.
    fn by_label(state: &'static str, step: String, store: &'static str) -> Self {
        Self { state, step: TaskStep::Label(step), store, ..Self::default() }
    }
}

/// The WGSL code that updates the state of a task (a fold) by four labels at once, or by one.
#[derive(Default)]
enum TaskStep {
    /// No code, because no label changes the state.
    #[default]
    None,
    /// An expression for the next state after a word of labels.
    Word(String),
    /// A statement that takes a label above the task's threshold.
    Label(String),
}

/// Returns the text of a WGSL function over a row, and over more parameters.
fn function(name: &str, more: &str, start: &str, body: String) -> String {
    format!("fn {name}(row: ptr<function, Row>{more}) {{\n{start}{body}}}\n")
}

impl ShaderWriter<'_> {
    /// Returns the whole WGSL text of the kernel's shader.
    fn whole(&mut self) -> String {
        let lines: Vec<ShaderLines> = (0..self.tasks.len()).map(|at| self.lines(at)).collect();
        let files = FOLDS
            .iter()
            .filter(|(stem, _)| self.tasks.iter().any(|task| task.kind.stem() == *stem));
        let files = files.map(|(_, text)| *text);
        let own = [
            self.row(&lines),
            self.start(&lines),
            self.take(&lines),
            self.store(&lines),
            self.keep(&lines),
        ];
        let parts = std::iter::once(COMMON)
            .chain(files)
            .chain(own.iter().map(String::as_str))
            .chain([MAIN]);
        parts.collect::<Vec<_>>().join("\n")
    }

    /// Returns the WGSL struct with the states of all tasks for one ranking.
    fn row(&self, lines: &[ShaderLines]) -> String {
        let fields = lines.iter().enumerate().map(|(at, lines)| match &lines.number {
            Some(_) => format!("    t{at}: {},\n    n{at}: u32,\n", lines.state),
            None => format!("    t{at}: {},\n", lines.state),
        });
        format!("struct Row {{\n    slot: u32,\n{}}}\n", fields.collect::<String>())
    }

    /// Returns the WGSL function that sets the states before the first rank of the block.
    fn start(&self, lines: &[ShaderLines]) -> String {
        let carried = format!("let column = {}u;", self.integers.words);
        let starts = lines.iter().enumerate().map(|(at, lines)| {
            let number =
                lines.number.iter().map(|number| format!("    (*row).n{at} = {number};\n"));
            let start = lines.start.iter().map(|start| format!("    (*row).t{at} = {start};\n"));
            let load = lines.carry.iter().map(|[_, load]| {
                format!("    if batch.above > 0u {{ {carried} (*row).t{at} = {load}; }}\n")
            });
            number.chain(start).chain(load).collect::<String>()
        });
        function("start", "", SLOT, starts.collect())
    }

    /// Returns the two WGSL functions that take labels. `take` takes a word of four labels, the
    /// first of them at rank `first` + 1; `label` takes each label that may change a state.
    fn take(&self, lines: &[ShaderLines]) -> String {
        let single = self.tasks.iter().filter(|task| !task.kind.is_count());
        // Without a fold that goes label by label, `take` has no test and no call of `label`.
        let threshold = single.map(|task| task.kind.threshold()).min().unwrap_or(u8::MAX);
        let (mut all, mut some, mut labels) = (String::new(), String::new(), String::new());
        for (at, (task, lines)) in self.tasks.iter().zip(lines).enumerate() {
            let state = format!("let t = (*row).t{at};");
            let own = task.kind.threshold();
            match &lines.step {
                TaskStep::Word(step) if own < threshold => {
                    all += &format!("    {{ {state} (*row).t{at} = {step}; }}\n");
                }
                TaskStep::Word(step) => {
                    some += &format!("    {{ {state} (*row).t{at} = {step}; }}\n")
                }
                TaskStep::Label(step) if own > threshold => {
                    labels += &format!("    if code > {own}u {{ {state} {step} }}\n");
                }
                TaskStep::Label(step) => labels += &format!("    {{ {state} {step} }}\n"),
                TaskStep::None => {}
            }
        }
        let label = function("label", ", code: u32, rank: u32", SLOT, labels);
        let skip =
            format!("    let hits = above(word, {threshold}u);\n    if hits == 0u {{ return; }}\n");
        // Not a loop: llvmpipe ends a shader's loops after 65,535 rounds, all of them together.
        let each = (0..4).map(|byte| {
            let (shift, rank) = (8 * byte, byte + 1);
            let code = format!("(word >> {shift}u) & 255u");
            format!(
                "    if (hits & {:#x}u) != 0u {{ label(row, {code}, first + {rank}u); }}\n",
                0x80u32 << shift
            )
        });
        let each: String = each.collect();
        let rest = if threshold == u8::MAX { String::new() } else { [skip, some, each].concat() };
        label + &function("take", ", word: u32, first: u32", "", all + &rest)
    }

    /// Returns the WGSL function that stores the states at a cutoff.
    fn store(&self, lines: &[ShaderLines]) -> String {
        let tasks = self.tasks.len();
        let stores = lines.iter().enumerate().map(|(at, ShaderLines { store, .. })| {
            let column = format!("let column = cutoffs[batch.cuts + cut * {tasks}u + {at}u];");
            format!("    {{ {column} let t = (*row).t{at}; if column != NONE {{ {store} }} }}\n")
        });
        function("store", ", cut: u32", SLOT, stores.collect())
    }

    /// Returns the WGSL function that stores the states for the next block of ranks.
    fn keep(&self, lines: &[ShaderLines]) -> String {
        let column = self.integers.words;
        let saves = lines.iter().enumerate().filter_map(|(at, lines)| {
            let [save, _] = lines.carry.as_ref()?;
            Some(format!("    {{ let column = {column}u; let t = (*row).t{at}; {save} }}\n"))
        });
        function("keep", "", SLOT, saves.collect())
    }

    /// Adds a table after all earlier tables of the shader, unless the shader has an equal table.
    /// Returns the index of the first word of the table.
    fn table(&mut self, table: TablePart) -> u32 {
        let ranks = self.blocks.first().map_or(0, |block| block.end - block.start);
        // Two tasks may share a table, such as the reciprocals, so an equal table is stored only
        // once.
        let known = self
            .tables
            .iter()
            .position(|candidate| *candidate == table)
            .unwrap_or(self.tables.len());
        let start =
            self.tables[..known].iter().map(|table| table.words(self.integers, ranks)).sum();
        if known == self.tables.len() {
            self.tables.push(table);
        }
        start
    }

    // Long on purpose: the function is a table with a row for each fold.
    /// Returns the WGSL code of the shader for one task.
    fn lines(&mut self, at: usize) -> ShaderLines {
        let task = self.tasks[at];
        let t = format!("(*row).t{at}");
        let blocked = self.blocks.len() > 1;
        match &task.kind {
            Fold::Count(above) => ShaderLines {
                state: "u32",
                step: TaskStep::Word(format!("count(t, word, {above}u)")),
                store: STORE_ONE,
                ..ShaderLines::default()
            },
            Fold::CountWithin(above, input) => ShaderLines {
                state: "u32",
                number: Some(format!("input({input}u, slot)")),
                step: TaskStep::Word(format!(
                    "count_within(t, word, first, {above}u, (*row).n{at})"
                )),
                store: STORE_ONE,
                ..ShaderLines::default()
            },
            Fold::FirstRank(_) => {
                ShaderLines::by_label("u32", format!("{t} = first_rank(t, rank);"), STORE_ONE)
            }
            Fold::PrecisionSum(_, bits) => {
                let reciprocals = self.table(TablePart::Reciprocals);
                let step = format!("{t} = precision_sum(t, rank, {reciprocals}u, {bits}u);");
                ShaderLines::by_label("PrecisionSum", step, STORE_SUM)
            }
            Fold::WeightedSum(terms) => {
                let table = self.table(TablePart::Ranks(task.word));
                let (wide, words) = if terms.wide { ("_wide", 3) } else { ("", 2) };
                let step = by_rank(terms.gains.codes(), terms.gains.first, table, words);
                let store = if terms.wide { STORE_THREE } else { STORE_TWO };
                ShaderLines {
                    state: if terms.wide { "vec3<u32>" } else { "vec2<u32>" },
                    step: step.map_or(TaskStep::None, |[code, at]| {
                        TaskStep::Label(format!("{code} {{ {t} = weighted_sum{wide}(t, {at}); }}"))
                    }),
                    store,
                    carry: blocked
                        .then_some([store, if terms.wide { LOAD_THREE } else { LOAD_TWO }]),
                    ..ShaderLines::default()
                }
            }
            Fold::Cascade(chances) => {
                let goes_on = self.table(TablePart::Continuation(task.word));
                let table = self.table(TablePart::Ranks(task.word));
                let step = by_rank(chances.stops.codes(), chances.stops.first, table, 2);
                ShaderLines {
                    state: "Cascade",
                    start: Some("cascade_start()".to_owned()),
                    step: step.map_or(TaskStep::None, |[code, at]| {
                        TaskStep::Label(format!(
                            "{code} {{ {t} = cascade(t, {at}, {goes_on}u + 2u * index); }}"
                        ))
                    }),
                    store: STORE_SUM,
                    carry: blocked.then_some([
                        "put64(column, slot, t.sum); put64(column + 2u, slot, t.reaches);",
                        "Cascade(taken64(column + 2u, slot), taken64(column, slot))",
                    ]),
                    ..ShaderLines::default()
                }
            }
            Fold::PeakPrecision(_, first, caps) => {
                let column = task.word;
                // Not a loop, for the reason in `take`: a test for each cap, one nested in the
                // other, as most hits fail the first test. Compilers limit how deep blocks may be,
                // so a nest has at most 16 tests.
                let due = format!("if peak_precision_is_due(peak, {first}u, {caps}u, slot)");
                let reach = format!("peak = peak_precision_reach(peak, {column}u, slot);");
                let reached = (0..*caps).step_by(16).map(|at| {
                    (at..*caps)
                        .take(16)
                        .fold(String::new(), |more, _| format!("{due} {{ {reach} {more} }}"))
                });
                let reached: String = reached.collect();
                let step = format!(
                    "var peak = peak_precision_hit(t); {reached} {t} = peak_precision_at(peak, \
                     rank);"
                );
                let store = "peak_precision_end(t, column, slot);";
                ShaderLines {
                    start: Some(format!("peak_precision_start({column}u, {caps}u, slot)")),
                    ..ShaderLines::by_label("PeakPrecision", step, store)
                }
            }
            Fold::PreferenceSum { hits, cap, .. } => {
                let step = format!("{t} = preference_sum(t, code > {hits}u, (*row).n{at});");
                let store = "put(column, slot, t.hits); put(column + 1u, slot, t.preferred);";
                ShaderLines {
                    number: Some(format!("input({cap}u, slot)")),
                    ..ShaderLines::by_label("PreferenceSum", step, store)
                }
            }
            Fold::InferredSum(above, bits) => {
                let reciprocals = self.table(TablePart::Reciprocals);
                let shares = self.table(TablePart::Shares);
                let arguments =
                    format!("t, rank, code, {above}u, {reciprocals}u, {shares}u, {bits}u");
                let step = format!("{t} = inferred_sum({arguments});");
                ShaderLines::by_label("InferredSum", step, STORE_SUM)
            }
            Fold::PairSum(_) => {
                let step = format!("{t} = pair_sum(t, rank);");
                ShaderLines::by_label("PairSum", step, "put(column, slot, t.pairs);")
            }
            Fold::Histogram(codes) => ShaderLines {
                start: Some(format!("histogram_start({}u, {codes}u, slot)", task.word)),
                ..ShaderLines::by_label("u32", format!("histogram(t, code, {codes}u, slot);"), "")
            },
        }
    }
}

/// The beginning of functions that store or load the state of a row.
const SLOT: &str = "    let slot = (*row).slot;\n";

const STORE_ONE: &str = "put(column, slot, t);";

const STORE_TWO: &str = "put64(column, slot, t);";

const STORE_THREE: &str = "put64(column, slot, t.xy); put(column + 2u, slot, t.z);";

const STORE_SUM: &str = "put64(column, slot, t.sum);";

const LOAD_TWO: &str = "taken64(column, slot)";

const LOAD_THREE: &str = "vec3(taken64(column, slot), taken(column + 2u, slot))";

/// Returns two pieces of WGSL code for a table by rank and code: a test whether the table has the
/// code of the label, and the index of the entry's first word. `None` if the table has no codes.
fn by_rank(codes: u32, first: u8, table: u32, words: u32) -> Option<[String; 2]> {
    let condition = format!("let index = code - {first}u; if index < {codes}u");
    let entry = format!("{table}u + ((rank - 1u - batch.above) * {codes}u + index) * {words}u");
    (codes > 0).then_some([condition, entry])
}
