//! The graph of a group with several sub-groups: gates from each class to the next lower one, the order in which documents can be gone
//! through, and circles.

use std::ops::Range;

use super::line::PreferenceLine;

/// A step from one class of a sub-group to the next lower one, as ranges of the sorted lines.
pub(super) struct ClassStep {
    pub(super) upper: Range<usize>,
    pub(super) lower: Range<usize>,
}

/// The gates between the classes of each sub-group.
fn gates(lines: &[PreferenceLine], run: &[u32]) -> Vec<ClassStep> {
    let line = |at: usize| &lines[run[at] as usize];
    let mut gates = Vec::new();
    for subgroup in ranges(0..run.len(), |a, b| line(a).subgroup == line(b).subgroup) {
        let mut upper: Option<Range<usize>> = None;
        for lower in ranges(subgroup, |a, b| line(a).level == line(b).level) {
            if let Some(upper) = upper {
                gates.push(ClassStep { upper, lower: lower.clone() });
            }
            upper = Some(lower);
        }
    }
    gates
}

/// Splits a range where neighbours differ.
fn ranges(range: Range<usize>, same: impl Fn(usize, usize) -> bool) -> impl Iterator<Item = Range<usize>> {
    let mut start = range.start;
    std::iter::from_fn(move || {
        if start == range.end {
            return None;
        }
        let mut end = start + 1;
        while end < range.end && same(end - 1, end) {
            end += 1;
        }
        let part = start..end;
        start = end;
        Some(part)
    })
}

/// The graph of the documents of a group and the gates between them. Documents are the nodes `0..size`, gates the nodes after them. A
/// document leads to the gates below its lines, a gate to the documents of its lower class.
pub(super) struct Graph<'a> {
    pub(super) gates: Vec<ClassStep>,
    pub(super) local: &'a [usize],
    /// The gates that each document leads to, those of a document from `starts[document]` to the next start.
    through: Vec<usize>,
    starts: Vec<usize>,
}

impl<'a> Graph<'a> {
    /// Makes the graph of the lines at the sorted indices of `run`; `local` has the index among `size` documents of that of each line.
    pub(super) fn new(lines: &[PreferenceLine], run: &[u32], local: &'a [usize], size: usize) -> Self {
        let gates = gates(lines, run);
        let mut starts = vec![0; size + 1];
        for gate in &gates {
            for at in gate.upper.clone() {
                starts[local[at] + 1] += 1;
            }
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut through = vec![0; starts[size]];
        for (index, gate) in gates.iter().enumerate() {
            for at in gate.upper.clone() {
                through[next[local[at]]] = index;
                next[local[at]] += 1;
            }
        }
        Graph { gates, local, through, starts }
    }

    /// The gates that a document leads to.
    pub(super) fn through(&self, document: usize) -> &[usize] {
        &self.through[self.starts[document]..self.starts[document + 1]]
    }

    fn size(&self) -> usize {
        self.starts.len() - 1
    }

    fn edge(&self, node: usize, index: usize) -> Option<usize> {
        let size = self.size();
        if node < size {
            self.through(node).get(index).map(|gate| size + gate)
        } else {
            let at = self.gates[node - size].lower.start + index;
            (at < self.gates[node - size].lower.end).then(|| self.local[at])
        }
    }

    /// Returns the documents in such an order that each comes after all documents it is preferred to. Fails with the documents of a circle
    /// of preferences, and the ones between them.
    ///
    /// The strongly connected components are found by the algorithm of Tarjan, without recursion.
    pub(super) fn order(&self) -> Result<Vec<usize>, Vec<usize>> {
        const NEW: u32 = u32::MAX;
        let size = self.size();
        let nodes = size + self.gates.len();
        let mut number = vec![NEW; nodes];
        let mut low = vec![0; nodes];
        let mut waiting = vec![false; nodes];
        let mut stack = Vec::new();
        let mut calls: Vec<(usize, usize)> = Vec::new();
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
                    // A document that leads to itself, at two levels of one sub-group, is alone in its component, and no circle.
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

/// The shortest circle of preferences through the first document of a component.
pub(super) fn circle(
    lines: &[PreferenceLine],
    run: &[u32],
    local: &[usize],
    size: usize,
    component: &[usize],
) -> Vec<(usize, usize)> {
    let mut inside = vec![false; size];
    for &document in component {
        inside[document] = true;
    }
    let first = component[0];
    let line = |at: usize| &lines[run[at] as usize];
    let mut ends = vec![0; run.len()];
    for subgroup in ranges(0..run.len(), |a, b| line(a).subgroup == line(b).subgroup) {
        for at in subgroup.clone() {
            ends[at] = subgroup.end;
        }
    }
    let mut own: Vec<Vec<usize>> = vec![Vec::new(); size];
    for (at, &document) in local.iter().enumerate() {
        if inside[document] {
            own[document].push(at);
        }
    }
    // For each sub-group, by its end: the line from which on all its lines have been looked at.
    let mut looked = vec![usize::MAX; run.len() + 1];
    // The lines, the upper and the lower one, by which each document was reached.
    let mut reached: Vec<Option<(usize, usize)>> = vec![None; size];
    let mut queue = std::collections::VecDeque::from([first]);
    while let Some(document) = queue.pop_front() {
        for &at in &own[document] {
            let mut below = at + 1;
            while below < ends[at] && line(below).level == line(at).level {
                below += 1;
            }
            // What is below a line of a sub-group is also below every higher line of it, so the search looks at each line about once.
            let end = ends[at].min(looked[ends[at]]);
            if document != first {
                looked[ends[at]] = looked[ends[at]].min(below);
            }
            for lower in below..end {
                let other = local[lower];
                if other == first && document != first {
                    let mut steps = vec![(at, lower)];
                    let mut here = document;
                    while here != first {
                        let Some(step) = reached[here] else { break };
                        steps.push(step);
                        here = local[step.0];
                    }
                    steps.reverse();
                    return steps.into_iter().map(|(a, b)| (run[a] as usize, run[b] as usize)).collect();
                }
                if other != first && inside[other] && reached[other].is_none() {
                    reached[other] = Some((at, lower));
                    queue.push_back(other);
                }
            }
        }
    }
    Vec::new()
}
