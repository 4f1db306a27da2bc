//! Writes what a probe recorded in one run, piece by piece.

use std::fs::File;
use std::path::Path;

use super::files::{PROBE_FLOWS_FILE, PROBE_PORTS_FILE};
use super::probed::{PROBE_FLOWS, PROBE_PORTS, ProbedFlow, ProbedFlows, ProbedPort, ProbedPorts};
use super::table::TableWriter;
use super::varied::VariedKey;
use super::{PortRecord, ResultsError, RunKey, TableFile};

/// A piece is written when it has this many rows.
const ROWS_OF_GROUP: usize = 1 << 17;

/// The two tables of a probe.
pub(super) struct ProbeWriter {
    ports: TableWriter<File, ProbedPorts>,
    flows: TableWriter<File, ProbedFlows>,
    pending_ports: ProbedPorts,
    pending_flows: ProbedFlows,
}

impl ProbeWriter {
    /// Creates empty tables in the folder `dir`.
    pub(super) fn new(
        dir: &Path,
        keys: &[VariedKey],
        run: &RunKey,
        ports: &[PortRecord],
    ) -> Result<ProbeWriter, ResultsError> {
        let (of_ports, of_flows) = (dir.join(PROBE_PORTS_FILE), dir.join(PROBE_FLOWS_FILE));
        let create = |path: &Path| File::create(path).map_err(ResultsError::write(path));
        Ok(ProbeWriter {
            ports: TableWriter::new(create(&of_ports)?, keys, PROBE_PORTS)
                .map_err(ResultsError::write(&of_ports))?,
            flows: TableWriter::new(create(&of_flows)?, keys, PROBE_FLOWS)
                .map_err(ResultsError::write(&of_flows))?,
            pending_ports: ProbedPorts {
                run: run.clone(),
                ports: ports.to_vec(),
                rows: Vec::new(),
            },
            pending_flows: ProbedFlows { run: run.clone(), rows: Vec::new() },
        })
    }

    /// Adds a port's row.
    pub(super) fn add_port(&mut self, dir: &Path, port: ProbedPort) -> Result<(), ResultsError> {
        self.pending_ports.rows.push(port);
        match self.pending_ports.rows.len() >= ROWS_OF_GROUP {
            true => self.write_ports(dir),
            false => Ok(()),
        }
    }

    /// Adds a flow's row.
    pub(super) fn add_flow(&mut self, dir: &Path, flow: ProbedFlow) -> Result<(), ResultsError> {
        self.pending_flows.rows.push(flow);
        match self.pending_flows.rows.len() >= ROWS_OF_GROUP {
            true => self.write_flows(dir),
            false => Ok(()),
        }
    }

    /// Finishes both tables. Returns the table of flows, then that of ports.
    pub(super) fn finish(mut self, dir: &Path) -> Result<[TableFile; 2], ResultsError> {
        if !self.pending_ports.rows.is_empty() {
            self.write_ports(dir)?;
        }
        if !self.pending_flows.rows.is_empty() {
            self.write_flows(dir)?;
        }
        let flows = self.flows.finish_file(&dir.join(PROBE_FLOWS_FILE))?;
        Ok([flows, self.ports.finish_file(&dir.join(PROBE_PORTS_FILE))?])
    }

    fn write_ports(&mut self, dir: &Path) -> Result<(), ResultsError> {
        let pending = &mut self.pending_ports;
        let written = self.ports.append(&pending.run.point, pending, pending.rows.len());
        pending.rows.clear();
        written.map_err(ResultsError::write(&dir.join(PROBE_PORTS_FILE)))
    }

    fn write_flows(&mut self, dir: &Path) -> Result<(), ResultsError> {
        let pending = &mut self.pending_flows;
        let written = self.flows.append(&pending.run.point, pending, pending.rows.len());
        pending.rows.clear();
        written.map_err(ResultsError::write(&dir.join(PROBE_FLOWS_FILE)))
    }
}
