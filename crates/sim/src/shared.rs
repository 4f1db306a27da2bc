//! The parts of a scheme as a run uses them: all hosts, on any thread, share the transport and the tagger.

use std::sync::Arc;

use flowsched_schemes::transport::Transport;
use flowsched_schemes::world::Parts;
use flowsched_topology::Routing;

use crate::job::Job;

/// Parts whose transport and tagger are shared.
pub(crate) type Shared<T, G, P, C> = Parts<Arc<T>, Arc<G>, P, C>;

/// Shares the parts. The transport gets the paths that the job's routing gives it.
pub(crate) fn shared<T: Transport, G, P, C>(
    job: &Job<'_>,
    parts: Parts<T, G, P, C>,
) -> Shared<T, G, P, C> {
    let Parts { transport, tagger, ports, controllers } = parts;
    let transport = match job.routing {
        Routing::Spray => transport.over_sprayed_paths(),
        Routing::Ecmp => transport,
    };
    Parts { transport: Arc::new(transport), tagger: Arc::new(tagger), ports, controllers }
}
