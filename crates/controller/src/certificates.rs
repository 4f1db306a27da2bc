//! Certificates to start with: an authority, one for the controller, one for each host. A host's
//! certificate names its group as its subject, `agent.GROUP`, which is also its user in etcd.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use flowsched_fleet::names;
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, SanType,
};
use time::{Duration, OffsetDateTime};
use tokio_rustls::rustls::pki_types::CertificateDer;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::error::ControllerError;

/// A host's subject begins with this.
const AGENT: &str = "agent.";
/// The controller's subject, which is also its user in etcd.
pub const CONTROLLER: &str = "controller";
/// Days for which the authority is valid: ten years.
const CA_DAYS: i64 = 3650;

/// `flowsched controller certificates`.
#[derive(Args, Debug)]
pub struct CertificatesArgs {
    /// The folder of the certificates; the authority's key must be kept secret
    #[arg(long, default_value = "certificates")]
    folder: PathBuf,
    /// How many days certificates are valid
    #[arg(long, default_value_t = 365, value_parser = clap::value_parser!(i64).range(1..=3650))]
    days: i64,
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Make an authority
    Ca,
    /// Make the certificate of a controller, or of a server of etcd
    Controller {
        /// Names and addresses by which agents reach it
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Make the certificate of etcd's administrator, its user `root`
    Root,
    /// Make the certificate of a host
    Agent {
        /// The host's name
        host: String,
        /// The group whose thresholds it gets
        #[arg(long, default_value = "default")]
        group: String,
    },
}

/// Makes a certificate and its key, and prints the names of the files.
///
/// # Errors
/// If a file exists already or cannot be written.
pub fn run(args: &CertificatesArgs) -> Result<(), ControllerError> {
    fs::create_dir_all(&args.folder).map_err(|e| ControllerError::file(&args.folder, e))?;
    match &args.action {
        Action::Ca => {
            let (certificate, key) = authority()?;
            write(&args.folder, "ca", &certificate.pem(), &key.serialize_pem())
        }
        Action::Controller { names } => {
            let (certificate, key) = signed(args, CONTROLLER, names)?;
            write(&args.folder, CONTROLLER, &certificate.pem(), &key.serialize_pem())
        }
        Action::Root => {
            let (certificate, key) = signed(args, "root", &[])?;
            write(&args.folder, "root", &certificate.pem(), &key.serialize_pem())
        }
        Action::Agent { host, group } => {
            names::check("host", host)?;
            names::check("--group", group)?;
            let subject = format!("{AGENT}{group}");
            let (certificate, key) = signed(args, &subject, std::slice::from_ref(host))?;
            write(&args.folder, host, &certificate.pem(), &key.serialize_pem())
        }
    }
}

fn failed(error: rcgen::Error) -> ControllerError {
    ControllerError::Failed(format!("cannot make a certificate: {error}"))
}

fn authority() -> Result<(Certificate, KeyPair), ControllerError> {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "flowsched authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    valid_for(&mut params, CA_DAYS);
    let key = KeyPair::generate().map_err(failed)?;
    let certificate = params.self_signed(&key).map_err(failed)?;
    Ok((certificate, key))
}

/// Makes a certificate valid for `days` from now, and also for the day before: clocks differ.
fn valid_for(params: &mut CertificateParams, days: i64) {
    let now = OffsetDateTime::now_utc();
    params.not_before = now - Duration::days(1);
    params.not_after = now + Duration::days(days);
}

fn signed(
    args: &CertificatesArgs,
    subject: &str,
    names: &[String],
) -> Result<(Certificate, KeyPair), ControllerError> {
    let read = |name: &str| {
        let path = args.folder.join(name);
        fs::read_to_string(&path).map_err(|e| {
            let advice = "`flowsched controller certificates ca` makes an authority";
            ControllerError::file(path, format!("{e}; {advice}"))
        })
    };
    let ca_key = KeyPair::from_pem(&read("ca.key")?).map_err(failed)?;
    let ca = CertificateParams::from_ca_cert_pem(&read("ca.crt")?).map_err(failed)?;
    let ca = ca.self_signed(&ca_key).map_err(failed)?;
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, subject);
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    for name in names {
        params.subject_alt_names.push(match name.parse() {
            Ok(address) => SanType::IpAddress(address),
            Err(_) => SanType::DnsName(name.clone().try_into().map_err(failed)?),
        });
    }
    valid_for(&mut params, args.days);
    let key = KeyPair::generate().map_err(failed)?;
    let certificate = params.signed_by(&key, &ca, &ca_key).map_err(failed)?;
    Ok((certificate, key))
}

/// Writes the key and the certificate. Existing files are not overwritten.
fn write(folder: &Path, name: &str, certificate: &str, key: &str) -> Result<(), ControllerError> {
    for (ending, text, mode) in [("key", key, 0o600), ("crt", certificate, 0o644)] {
        let path = folder.join(format!("{name}.{ending}"));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(mode);
        let written = options.open(&path).and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|e| ControllerError::file(&path, e))?;
        println!("{}", path.display());
    }
    Ok(())
}

/// The group that a host's certificate names; `None` if it is not a host's. The caller must have
/// verified the certificate.
pub fn group_of(certificate: &CertificateDer<'_>) -> Option<String> {
    let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
    let name = parsed.subject().iter_common_name().next()?;
    Some(name.as_str().ok()?.strip_prefix(AGENT)?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio_rustls::rustls::pki_types::pem::PemObject;

    fn run_in(folder: &Path, action: Action) -> Result<(), ControllerError> {
        run(&CertificatesArgs { folder: folder.to_owned(), days: 30, action })
    }

    #[test]
    fn a_certificate_names_the_group() {
        let folder = tempfile::tempdir().unwrap();
        let agent = || Action::Agent { host: "host7".into(), group: "rack-1".into() };
        let error = run_in(folder.path(), agent()).unwrap_err().to_string();
        assert!(error.contains("makes an authority"), "{error}");
        run_in(folder.path(), Action::Ca).unwrap();
        run_in(folder.path(), agent()).unwrap();
        let text = fs::read(folder.path().join("host7.crt")).unwrap();
        let certificate = CertificateDer::from_pem_slice(&text).unwrap();
        assert_eq!(group_of(&certificate).as_deref(), Some("rack-1"));
        let ca = fs::read(folder.path().join("ca.crt")).unwrap();
        assert_eq!(group_of(&CertificateDer::from_pem_slice(&ca).unwrap()), None);
        assert!(run_in(folder.path(), agent()).is_err(), "an old key is not overwritten");
        assert!(
            run_in(folder.path(), Action::Agent { host: "../x".into(), group: "g".into() })
                .is_err()
        );
    }
}
