//! The Python module `ripplet._native`: graphs, runs and analyses of the facade, with the GIL released.
//!
//! Users import `ripplet`, whose Python code in `python/src/ripplet` turns tables, arrays and graphs of other
//! packages into the columns that this module takes, and its arrays into the results that users see.
//!
//! | module | contents |
//! |---|---|
//! | `analyses` | centralities, distances and other values |
//! | `array` | arrays that numpy views without a copy |
//! | `arrow` | the Arrow C data interface, as Python's capsules |
//! | `cluster` | communities of rows that several processes have |
//! | `column` | columns of a graph's edges: buffers, Arrow arrays, sequences |
//! | `command` | the command `ripplet`, for the console script |
//! | `error` | Python exceptions of the crate's errors |
//! | `fraud` | windows of transactions |
//! | `graph` | graphs |
//! | `job` | runs on a thread of their own, which Ctrl-C cancels |
//! | `measures` | measures and pictures of communities, generated graphs, devices |
//! | `networkx` | the backend of NetworkX |
//! | `options` | keyword options |
//! | `program` | programs in the language of hooks |
//! | `swarm` | an analysis of each graph of a batch |
//! | `table` | tables that go to Python and come from it |
//!
//! A panic of a run is an exception as well: it ends the run's thread, not the interpreter.

mod analyses;
mod array;
mod arrow;
mod cluster;
mod column;
mod command;
mod communities;
mod error;
mod fraud;
mod graph;
mod job;
mod measures;
mod networkx;
mod options;
mod program;
mod ranks;
mod resolutions;
mod swarm;
mod table;

use pyo3::prelude::*;

/// Native parts of ripplet; import `ripplet` instead.
#[pymodule(name = "_native")]
mod native {
    #[pymodule_export]
    use crate::analyses::{Values, analyse, plan_analysis};
    #[pymodule_export]
    use crate::array::Array;
    #[pymodule_export]
    use crate::cluster::{ClusterFound, cluster_communities};
    #[pymodule_export]
    use crate::column::Column;
    #[pymodule_export]
    use crate::command::command;
    #[pymodule_export]
    use crate::communities::{Found, communities, plan_communities};
    #[pymodule_export]
    use crate::fraud::{
        fraud_columns, fraud_evaluate, fraud_find, fraud_folder, fraud_run, fraud_window,
    };
    #[pymodule_export]
    use crate::graph::{Graph, columns_of_edges};
    #[pymodule_export]
    use crate::measures::{agree, agree_overlapping, edges, figures, gpus, picture, planted};
    #[pymodule_export]
    use crate::networkx::{
        Adjacency, adjacency_of, community_sums, dependencies, distances, edge_dependencies,
        extents, reach, refused_weights, semi_synchronous, vote_graph, walk_ranks,
    };
    #[pymodule_export]
    use crate::program::{Program, read_program, vertex_table};
    #[pymodule_export]
    use crate::ranks::end_ranks;
    #[pymodule_export]
    use crate::resolutions::{plan_resolution_profile, plan_sweep, resolution_profile, sweep};
    #[pymodule_export]
    use crate::swarm::Swarm;
    #[pymodule_export]
    use crate::table::Table;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // NVIDIA's package may be in any folder of packages. Nothing is searched before a GPU compiles a kernel.
        let path: Vec<std::path::PathBuf> =
            module.py().import("sys")?.getattr("path")?.extract().unwrap_or_default();
        ripplet_gpu::nvrtc::search_packages(path);
        module.add("version", env!("CARGO_PKG_VERSION"))
    }
}
