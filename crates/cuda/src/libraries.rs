//! Finds and opens the driver and the run-time compiler.
//!
//! # Why before the first call?
//! `cudarc` panics if a library is missing.
#![allow(unsafe_code, reason = "opening a library runs its initialisers")]

use crate::{CudaError, Result};
use libloading::Library;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The environment variable that holds the path of NVRTC, for unusual locations.
pub const NVRTC_VARIABLE: &str = "MISDEAL_NVRTC";
const NVRTC_NAMES: [&str; 2] = ["libnvrtc.so.13", "libnvrtc.so.12"];

/// Opens the driver and the compiler, and never closes them.
///
/// # Errors
/// A library is missing.
pub fn open() -> Result<()> {
    static OPENED: OnceLock<Result<()>> = OnceLock::new();
    OPENED
        .get_or_init(|| {
            open_one(["libcuda.so.1".into(), "libcuda.so".into()].into_iter()).ok_or(CudaError::NoDriver)?;
            open_compiler()
        })
        .clone()
}

/// Opens only the compiler. Kernels can be compiled without a device.
///
/// # Errors
/// The compiler is missing.
pub fn open_compiler() -> Result<()> {
    open_one(nvrtc_places().into_iter()).ok_or(CudaError::NoCompiler)
}

/// Opens the first library that exists. `cudarc` then finds it by its name.
fn open_one(mut places: impl Iterator<Item = PathBuf>) -> Option<()> {
    places.find_map(|place| {
        // SAFETY: these are the vendor's libraries, and their initialisers have no preconditions.
        let library = unsafe { Library::new(place) }.ok()?;
        // Never closed, because `cudarc` calls its functions.
        std::mem::forget(library);
        Some(())
    })
}

/// Paths to try for NVRTC: the environment variable, the loader's names, CUDA toolkits, Python environments.
fn nvrtc_places() -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = std::env::var_os(NVRTC_VARIABLE).map(PathBuf::from).into_iter().collect();
    places.extend(NVRTC_NAMES.map(PathBuf::from));
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let mut folders = vec![];
    for root in ["CUDA_PATH", "CUDA_HOME"].into_iter().filter_map(variable) {
        folders.push(root.join("lib64"));
    }
    folders.extend(["/usr/local/cuda/lib64", "/opt/cuda/lib64"].map(PathBuf::from));
    for toolkit in entries("/usr/local".into()).filter(|path| path.to_string_lossy().contains("/cuda-")) {
        folders.push(toolkit.join("lib64"));
    }
    for environment in ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(variable) {
        folders.push(environment.join("lib"));
        for python in entries(environment.join("lib")) {
            for package in entries(python.join("site-packages/nvidia")) {
                folders.push(package.join("lib"));
            }
        }
    }
    places.extend(folders.iter().flat_map(|folder| NVRTC_NAMES.map(|name| folder.join(name))));
    places
}

/// The sorted paths in a folder; empty if it does not exist.
fn entries(folder: PathBuf) -> impl Iterator<Item = PathBuf> {
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter()
}
