//! The text of a kernel's shader: WGSL made of the folds' own files, functions that are written
//! here, and a main loop.
//!
//! Why shaders are put together and not written: WGSL has no generics and no function pointers, and
//! a switch on the kind of fold would be run for every label. So for each kernel a row's type and
//! five small functions are written as text, whose lines call the functions of the folds' own
//! files:
//!
//! ```text
//! common.wgsl           bindings, words, fixed-point numbers
//! count.wgsl, …         the folds that the kernel has
//! struct Row            slot, t0, t1, … the states, n0, … numbers of the query
//! start, take, label,   for each task its line: (*row).t0 = count((*row).t0, word, 2u);
//! store, keep
//! main.wgsl             one invocation a row: down the ranks, four words at a time,
//!                       store at each cutoff
//! ```
//!
//! A word has four labels of a row. `take` gets words: counts take them whole (a population count),
//! all others share one test, whether any byte exceeds the *least* of their thresholds, and go
//! label by label only if one does. Judgments are sparse, so most words end at the test.

use std::ops::Range;

use super::sources::{COMMON, FOLDS, MAIN};
use super::tables::TablePart;
use super::tasks::{IntegerFold, IntegerProgram, IntegerTask};

/// Writes the shader of a kernel with `tasks` over `blocks` of ranks. Returns the source with the
/// tables that the shader reads.
pub fn shader(
    integers: &IntegerProgram,
    tasks: &[&IntegerTask],
    blocks: &[Range<u32>],
) -> (String, Vec<TablePart>) {
    let mut writer = Writer { integers, tasks, blocks, tables: Vec::new() };
    let source = writer.whole();
    (source, writer.tables)
}

/// The writer of a shader, with the tables that the shader reads.
struct Writer<'a> {
    integers: &'a IntegerProgram,
    tasks: &'a [&'a IntegerTask],
    blocks: &'a [Range<u32>],
    tables: Vec<TablePart>,
}

/// The parts of a shader for one task, as WGSL: `t` is its state, `slot` its row.
#[derive(Default)]
struct ShaderLines {
    /// The type of the state.
    state: &'static str,
    /// A number of the row, read only once.
    number: Option<String>,
    /// The state before the first rank, if it is not zero.
    start: Option<String>,
    step: TaskStep,
    /// Stores the state from `column` on.
    store: &'static str,
    /// Code to store the whole state from `column` on for the next block, and code to restore the
    /// state.
    carry: Option<[&'static str; 2]>,
}

/// The step of a task at a word or a label.
#[derive(Default)]
enum TaskStep {
    /// No step: no code counts.
    #[default]
    None,
    /// Computes the next state from a word of labels.
    Word(String),
    /// Takes a label that counts.
    Label(String),
}

/// A function of WGSL.
fn function(head: &str, start: &str, body: &str) -> String {
    format!("fn {head} {{\n{start}{body}}}\n")
}

impl Writer<'_> {
    /// The whole shader.
    fn whole(&mut self) -> String {
        let lines: Vec<ShaderLines> = (0..self.tasks.len()).map(|at| self.lines(at)).collect();
        let files = FOLDS
            .iter()
            .filter(|(stem, _)| self.tasks.iter().any(|task| stem_of(&task.kind) == *stem));
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

    /// The states of a row.
    fn row(&self, lines: &[ShaderLines]) -> String {
        let fields = lines.iter().enumerate().map(|(at, lines)| match &lines.number {
            Some(_) => format!("    t{at}: {},\n    n{at}: u32,\n", lines.state),
            None => format!("    t{at}: {},\n", lines.state),
        });
        format!("struct Row {{\n    slot: u32,\n{}}}\n", fields.collect::<String>())
    }

    /// The states before the first rank of the block.
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
        function(
            "start(row: ptr<function, Row>)",
            "    let slot = (*row).slot;\n",
            &starts.collect::<String>(),
        )
    }

    /// The code for a word of four labels, the first at the rank after `first`, and for each label
    /// that may count.
    fn take(&self, lines: &[ShaderLines]) -> String {
        let single = self.tasks.iter().filter(|task| !is_count(&task.kind));
        // Without any fold of single labels, all labels are skipped.
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
        let slot = "    let slot = (*row).slot;\n";
        let label = function("label(row: ptr<function, Row>, code: u32, rank: u32)", slot, &labels);
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
        label
            + &function(
                "take(row: ptr<function, Row>, word: u32, first: u32)",
                "",
                &[all, rest].concat(),
            )
    }

    /// The code that stores the states at a cutoff.
    fn store(&self, lines: &[ShaderLines]) -> String {
        let tasks = self.tasks.len();
        let stores = lines.iter().enumerate().map(|(at, ShaderLines { store, .. })| {
            let column = format!("let column = cutoffs[batch.cuts + cut * {tasks}u + {at}u];");
            format!("    {{ {column} let t = (*row).t{at}; if column != NONE {{ {store} }} }}\n")
        });
        let start = "    let slot = (*row).slot;\n";
        function("store(row: ptr<function, Row>, cut: u32)", start, &stores.collect::<String>())
    }

    /// The code that stores the states for the next block of ranks.
    fn keep(&self, lines: &[ShaderLines]) -> String {
        let column = self.integers.words;
        let saves = lines.iter().enumerate().filter_map(|(at, lines)| {
            let [save, _] = lines.carry.as_ref()?;
            Some(format!("    {{ let column = {column}u; let t = (*row).t{at}; {save} }}\n"))
        });
        function(
            "keep(row: ptr<function, Row>)",
            "    let slot = (*row).slot;\n",
            &saves.collect::<String>(),
        )
    }

    /// Adds a table behind all earlier tables, unless the shader has an equal table, and returns
    /// its start.
    fn table(&mut self, table: TablePart) -> u32 {
        let ranks = self.blocks.first().map_or(0, |block| block.end - block.start);
        // Two tasks may share a table, such as the reciprocals, so an equal table is stored only
        // once.
        let known = self.tables.iter().position(|of| *of == table).unwrap_or(self.tables.len());
        let start =
            self.tables[..known].iter().map(|table| table.words(self.integers, ranks)).sum();
        if known == self.tables.len() {
            self.tables.push(table);
        }
        start
    }

    // Long on purpose: the function is a table with a row for each fold.
    /// The parts of the shader for a task.
    fn lines(&mut self, at: usize) -> ShaderLines {
        let task = self.tasks[at];
        let t = format!("(*row).t{at}");
        let blocked = self.blocks.len() > 1;
        match &task.kind {
            IntegerFold::Count(above) => ShaderLines {
                state: "u32",
                step: TaskStep::Word(format!("count(t, word, {above}u)")),
                store: STORE_ONE,
                ..ShaderLines::default()
            },
            IntegerFold::CountWithin(above, input) => ShaderLines {
                state: "u32",
                number: Some(format!("input({input}u, slot)")),
                step: TaskStep::Word(format!(
                    "count_within(t, word, first, {above}u, (*row).n{at})"
                )),
                store: STORE_ONE,
                ..ShaderLines::default()
            },
            IntegerFold::FirstRank(_) => ShaderLines {
                state: "u32",
                step: TaskStep::Label(format!("{t} = first_rank(t, rank);")),
                store: STORE_ONE,
                ..ShaderLines::default()
            },
            IntegerFold::PrecisionSum(_, bits) => {
                let reciprocals = self.table(TablePart::Reciprocals);
                ShaderLines {
                    state: "PrecisionSum",
                    step: TaskStep::Label(format!(
                        "{t} = precision_sum(t, rank, {reciprocals}u, {bits}u);"
                    )),
                    store: STORE_SUM,
                    ..ShaderLines::default()
                }
            }
            IntegerFold::WeightedSum(terms) => {
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
            IntegerFold::Cascade(chances) => {
                let goes_on = self.table(TablePart::GoesOn(task.word));
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
            IntegerFold::PeakPrecision(_, first, caps) => {
                let column = task.word;
                // Not a loop, as in `take`: one test within another for each cap, of which a hit
                // mostly needs the first. Compilers limit how deep blocks may be.
                let due = format!("if peak_precision_is_due(peak, {first}u, {caps}u, slot)");
                let reach = format!("peak = peak_precision_reach(peak, {column}u, slot);");
                let nested = |caps: u32| {
                    (0..caps).fold(String::new(), |more, _| format!("{due} {{ {reach} {more} }}"))
                };
                let reached: String =
                    (0..*caps).step_by(16).map(|at| nested((caps - at).min(16))).collect();
                let step = format!(
                    "var peak = peak_precision_hit(t); {reached} {t} = peak_precision_at(peak, \
                     rank);"
                );
                ShaderLines {
                    state: "PeakPrecision",
                    start: Some(format!("peak_precision_start({column}u, {caps}u, slot)")),
                    step: TaskStep::Label(step),
                    store: "peak_precision_end(t, column, slot);",
                    ..ShaderLines::default()
                }
            }
            IntegerFold::PreferenceSum { hits, cap, .. } => ShaderLines {
                state: "PreferenceSum",
                number: Some(format!("input({cap}u, slot)")),
                step: TaskStep::Label(format!(
                    "{t} = preference_sum(t, code > {hits}u, (*row).n{at});"
                )),
                store: "put(column, slot, t.hits); put(column + 1u, slot, t.preferred);",
                ..ShaderLines::default()
            },
            IntegerFold::InferredSum(above, bits) => {
                let tables = [self.table(TablePart::Reciprocals), self.table(TablePart::Shares)];
                let [reciprocals, shares] = tables;
                let arguments =
                    format!("t, rank, code, {above}u, {reciprocals}u, {shares}u, {bits}u");
                ShaderLines {
                    state: "InferredSum",
                    step: TaskStep::Label(format!("{t} = inferred_sum({arguments});")),
                    store: STORE_SUM,
                    ..ShaderLines::default()
                }
            }
            IntegerFold::PairSum(_) => ShaderLines {
                state: "PairSum",
                step: TaskStep::Label(format!("{t} = pair_sum(t, rank);")),
                store: "put(column, slot, t.pairs);",
                ..ShaderLines::default()
            },
            IntegerFold::Histogram(codes) => ShaderLines {
                state: "u32",
                start: Some(format!("histogram_start({}u, {codes}u, slot)", task.word)),
                step: TaskStep::Label(format!("histogram(t, code, {codes}u, slot);")),
                ..ShaderLines::default()
            },
        }
    }
}

const STORE_ONE: &str = "put(column, slot, t);";

const STORE_TWO: &str = "put64(column, slot, t);";

const STORE_THREE: &str = "put64(column, slot, t.xy); put(column + 2u, slot, t.z);";

const STORE_SUM: &str = "put64(column, slot, t.sum);";

const LOAD_TWO: &str = "taken64(column, slot)";

const LOAD_THREE: &str = "vec3(taken64(column, slot), taken(column + 2u, slot))";

/// Returns code to test whether a table by rank has the code of the label, and code for the place
/// of the entry; `None` if the table has no codes.
fn by_rank(codes: u32, first: u8, table: u32, words: u32) -> Option<[String; 2]> {
    let condition = format!("let index = code - {first}u; if index < {codes}u");
    let entry = format!("{table}u + ((rank - 1u - batch.above) * {codes}u + index) * {words}u");
    (codes > 0).then_some([condition, entry])
}

/// Whether the fold is a count. Counts take words whole, and do not make a kernel look at single
/// labels.
fn is_count(kind: &IntegerFold) -> bool {
    matches!(kind, IntegerFold::Count(_) | IntegerFold::CountWithin(..))
}

/// Returns the stem of the shader file of a fold.
fn stem_of(kind: &IntegerFold) -> &'static str {
    match kind {
        IntegerFold::Count(_) | IntegerFold::CountWithin(..) => "count",
        IntegerFold::FirstRank(_) => "first_rank",
        IntegerFold::PrecisionSum(..) => "precision_sum",
        IntegerFold::WeightedSum(_) => "weighted_sum",
        IntegerFold::Cascade(_) => "cascade",
        IntegerFold::PeakPrecision(..) => "peak_precision",
        IntegerFold::PreferenceSum { .. } => "preference_sum",
        IntegerFold::InferredSum(..) => "inferred_sum",
        IntegerFold::PairSum(_) => "pair_sum",
        IntegerFold::Histogram(_) => "histogram",
    }
}
