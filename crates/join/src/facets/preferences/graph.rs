//! The graph of preferences in a judgment group with several sub-groups: its documents, the steps
//! between levels, and circles.

use std::collections::VecDeque;
use std::iter::successors;
use std::ops::Range;

use super::line::NumberedLine;

/// The graph of preferences in a judgment group: its documents, and gates, the steps from a level
/// to the next lower one. Documents are the nodes `0..size`, gates the nodes after them. A document
/// leads to the gates below its lines, a gate to the documents of its lower class.
pub struct Graph<'a> {
    /// The index of the document of each line.
    local: &'a [usize],
    pub gates: Vec<ClassStep>,
    /// The gates that each document leads to.
    pub through: Vec<Vec<usize>>,
}

/// A gate in a graph of preferences: a step from a level of a sub-group to the next lower level.
pub struct ClassStep {
    /// The lower class, as a range of the lines.
    lower: Range<usize>,
    /// Whether both classes have several lines.
    pub is_shared: bool,
}

impl<'a> Graph<'a> {
    /// Makes the graph of preferences from the sorted lines of a judgment group. `local` has the
    /// index of the document of each line, among `size` documents.
    pub fn new(lines: &[NumberedLine], local: &'a [usize], size: usize) -> Self {
        let (mut gates, mut through) = (Vec::new(), vec![Vec::new(); size]);
        let mut at = 0;
        for subgroup in lines.chunk_by(|a, b| a.line.subgroup == b.line.subgroup) {
            let mut upper = at..at;
            for class in subgroup.chunk_by(|a, b| a.line.level == b.line.level) {
                let lower = at..at + class.len();
                at = lower.end;
                // The first class of a sub-group gets no gate, because no class lies above.
                if !upper.is_empty() {
                    let is_shared = upper.len() > 1 && lower.len() > 1;
                    local[upper].iter().for_each(|&document| through[document].push(gates.len()));
                    gates.push(ClassStep { lower: lower.clone(), is_shared });
                }
                upper = lower;
            }
        }
        Self { local, gates, through }
    }

    /// Returns the documents of the lower level to which a gate of the graph leads.
    pub fn below(&self, gate: usize) -> &[usize] {
        &self.local[self.gates[gate].lower.clone()]
    }

    fn edge(&self, node: usize, index: usize) -> Option<usize> {
        let size = self.through.len();
        match node.checked_sub(size) {
            None => self.through[node].get(index).map(|gate| size + gate),
            Some(gate) => self.below(gate).get(index).copied(),
        }
    }

    /// Returns the documents of the graph from the least preferred up: each document comes after
    /// all documents below it in preference. Fails with the documents of a circle of preferences,
    /// and the documents between them.
    ///
    /// The strongly connected components are found by the algorithm of Tarjan, without recursion.
    pub fn order(&self) -> Result<Vec<usize>, Vec<usize>> {
        const NEW: u32 = u32::MAX;
        let size = self.through.len();
        let nodes = size + self.gates.len();
        let mut number = vec![NEW; nodes];
        let mut low = vec![0; nodes];
        let mut waiting = vec![false; nodes];
        let mut stack = Vec::new();
        let mut calls = Vec::new();
        let mut numbers = 0;
        let mut order = Vec::with_capacity(size);
        for root in 0..size {
            if number[root] != NEW {
                continue;
            }
            calls.push((root, 0));
            while let Some((node, index)) = calls.pop() {
                if index == 0 {
                    number[node] = numbers;
                    low[node] = numbers;
                    numbers += 1;
                    stack.push(node);
                    waiting[node] = true;
                } else if let Some(child) = self.edge(node, index - 1) {
                    // The child has been gone through, or was known before.
                    if waiting[child] {
                        low[node] = low[node].min(low[child]);
                    }
                }
                if let Some(child) = self.edge(node, index) {
                    calls.push((node, index + 1));
                    if number[child] == NEW {
                        calls.push((child, 0));
                    }
                    continue;
                }
                if low[node] == number[node] {
                    let mut component = Vec::new();
                    while let Some(member) = stack.pop() {
                        waiting[member] = false;
                        if member < size {
                            component.push(member);
                        }
                        if member == node {
                            break;
                        }
                    }
                    // A document that leads to itself, at two levels of one sub-group, is alone in
                    // its component, and no circle.
                    if component.len() > 1 {
                        component.sort_unstable();
                        return Err(component);
                    }
                    order.append(&mut component);
                }
            }
        }
        Ok(order)
    }
}

/// Returns the shortest circle of preferences through the first document of `component`, as indices
/// of lines.
pub fn circle(lines: &[NumberedLine], local: &[usize], component: &[usize]) -> Vec<(usize, usize)> {
    let first = component[0];
    // The upper and the lower line by which each document was reached.
    let mut reached = vec![None; local.len()];
    let mut queue = VecDeque::from([first]);
    while let Some(document) = queue.pop_front() {
        for at in (0..lines.len()).filter(|&at| local[at] == document) {
            let upper = &lines[at].line;
            let subgroup =
                (at + 1..lines.len()).take_while(|&at| lines[at].line.subgroup == upper.subgroup);
            for lower in subgroup.filter(|&lower| lines[lower].line.level < upper.level) {
                let other = local[lower];
                if other == first && document != first {
                    // Back to the first document, which no step has reached.
                    let back = successors(Some((at, lower)), |step| reached[local[step.0]]);
                    let mut steps: Vec<_> =
                        back.map(|(a, b)| (lines[a].index, lines[b].index)).collect();
                    steps.reverse();
                    return steps;
                }
                let inside = component.binary_search(&other).is_ok();
                if other != first && inside && reached[other].is_none() {
                    reached[other] = Some((at, lower));
                    queue.push_back(other);
                }
            }
        }
    }
    Vec::new()
}
