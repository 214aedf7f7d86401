//! Finds the driver and the run-time compiler. The crate that calls them panics where they are missing, so they are looked
//! for here first.
#![allow(unsafe_code, reason = "opening a library runs its initialisers")]

use libloading::Library;
use std::path::PathBuf;
use std::sync::OnceLock;

/// A file that holds NVRTC, where it is not in a usual place.
const NVRTC_VARIABLE: &str = "MISDEAL_NVRTC";
const NVRTC_NAMES: [&str; 2] = ["libnvrtc.so.13", "libnvrtc.so.12"];

/// Opens both libraries, for good.
///
/// # Errors
/// Says which one is missing, and what to install.
pub fn open() -> Result<(), String> {
    static OPENED: OnceLock<Result<(), String>> = OnceLock::new();
    OPENED
        .get_or_init(|| {
            open_one(["libcuda.so.1".into(), "libcuda.so".into()].into_iter()).ok_or(
                "no CUDA device: the NVIDIA driver's libcuda.so.1 was not found; install the driver, or use the device cpu",
            )?;
            open_compiler()
        })
        .clone()
}

/// Opens the compiler alone: kernels compile without a device.
///
/// # Errors
/// Says that it is missing.
pub fn open_compiler() -> Result<(), String> {
    open_one(nvrtc_places().into_iter()).ok_or_else(|| {
        format!(
            "CUDA's run-time compiler libnvrtc was not found; install the CUDA toolkit or the Python package nvidia-cuda-nvrtc, \
             or set {NVRTC_VARIABLE} to the file"
        )
    })
}

/// Once a library is open under its own name, opening it again by that name finds it wherever it lies.
fn open_one(mut places: impl Iterator<Item = PathBuf>) -> Option<()> {
    places.find_map(|place| {
        // SAFETY: these are the vendor's libraries, whose initialisers have no conditions.
        let library = unsafe { Library::new(place) }.ok()?;
        // Never closed: the functions of it that are called elsewhere must stay.
        std::mem::forget(library);
        Some(())
    })
}

/// Where NVRTC may be: where the user says, where the loader looks, in toolkits, in Python environments.
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

/// What a folder holds, in order; nothing if it is not there.
fn entries(folder: PathBuf) -> impl Iterator<Item = PathBuf> {
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter()
}
