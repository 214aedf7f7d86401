//! Secret seeds: 256 bits from the operating system, kept in files that only their owner can read.

use crate::{Error, Result, atomic};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

/// 256 fresh secret bits from the operating system.
///
/// # Errors
/// The system has no random bits to give.
pub fn draw() -> io::Result<[u8; 32]> {
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).map_err(io::Error::other)?;
    Ok(secret)
}

/// The secret in a file. If there is no such file, it is made, with a fresh secret that only its owner can read.
///
/// The file holds 64 hexadecimal digits.
///
/// # Errors
/// Others may read the file, it holds something else, or it cannot be read or made.
pub fn read_or_create(path: &Path) -> Result<[u8; 32]> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => create(path),
        Err(error) => Err(Error::io(path, "read", error)),
        Ok(_) => read(path),
    }
}

fn create(path: &Path) -> Result<[u8; 32]> {
    atomic::check_place(path)?;
    let failed = |error| Error::io(path, "write", error);
    let secret = draw().map_err(failed)?;
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(failed)?;
    let mut digits = String::new();
    for byte in secret {
        let _ = write!(digits, "{byte:02x}");
    }
    digits.push('\n');
    file.write_all(digits.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
    Ok(secret)
}

fn read(path: &Path) -> Result<[u8; 32]> {
    let (file, length) = crate::input::open(path)?;
    check_is_private(path, &file)?;
    let wrong = || {
        let hint = "name a file that misdeal made, or a new one, which it makes";
        Error::malformed(path, "it is no seed of 64 hexadecimal digits", hint)
    };
    if !(64..=66).contains(&length) {
        return Err(wrong());
    }
    let mut text = String::new();
    file.take(66).read_to_string(&mut text).map_err(|_| wrong())?;
    let digits = text.trim_end();
    if digits.len() != 64 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(wrong());
    }
    let mut secret = [0; 32];
    for (i, byte) in secret.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).map_err(|_| wrong())?;
    }
    Ok(secret)
}

#[cfg(unix)]
fn check_is_private(path: &Path, file: &File) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = file.metadata().map_err(|error| Error::io(path, "read", error))?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        let problem =
            format!("others than its owner may read or change it (mode {mode:o}, but 600 is allowed)");
        let hint =
            "run chmod 600 on it; if others may have read it, remove it and let misdeal draw a new seed";
        return Err(Error::malformed(path, problem, hint));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_is_private(_: &Path, _: &File) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_made_once_and_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
        let secret = read_or_create(&one).unwrap();
        assert_eq!(read_or_create(&one).unwrap(), secret);
        assert_ne!(read_or_create(&other).unwrap(), secret);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&one).unwrap().permissions().mode() & 0o777, 0o600);
            for mode in [0o644, 0o640, 0o620, 0o601] {
                fs::set_permissions(&one, fs::Permissions::from_mode(mode)).unwrap();
                let refused = read_or_create(&one).unwrap_err().to_string();
                assert!(
                    refused.contains(&format!("mode {mode:o}")) && refused.contains("chmod 600"),
                    "{refused}"
                );
            }
        }
    }

    #[test]
    fn other_files_are_no_seeds() {
        let folder = tempfile::tempdir().unwrap();
        for text in ["", "abc", &"g".repeat(64), &"0".repeat(63), &"0".repeat(70), &"é".repeat(32)] {
            let path = folder.path().join("seed");
            atomic::write_privately(&path, |out| out.write_all(text.as_bytes())).unwrap();
            assert!(read_or_create(&path).is_err(), "{text}");
        }
        assert!(read_or_create(&folder.path().join("no/such/folder")).is_err());
        assert!(read_or_create(folder.path()).is_err());
    }
}
