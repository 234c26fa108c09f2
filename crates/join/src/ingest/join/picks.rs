//! The queries that are picked out of a run.

/// The picked queries. Those without judgments are numbered behind those of the qrels.
#[derive(Debug)]
pub(in crate::ingest) struct Picks {
    pub ids: Vec<Vec<u8>>,
    pub judged: u32,
}

impl Picks {
    /// Returns the number of the query `id`, which is `judged` in the qrels, if it is picked.
    pub fn number(&self, id: &[u8], judged: Option<u32>) -> Option<u32> {
        let place = self.ids.iter().position(|picked| picked == id)?;
        Some(judged.unwrap_or(self.judged + place as u32))
    }
}
