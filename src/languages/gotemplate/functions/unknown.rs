//! Implements functions whose result is not in the files: random values, time, the network, and generated keys.

use super::How::{Careful, Plain};
use super::{FunctionOutcome, Row, unknown};

const CHANCE: &str = "the value is random";
const TIME: &str = "the value depends on the time";
const KEYS: &str = "keys and certificates are random";
const PASSWORDS: &str = "gpulint does not compute passwords";

fn chance(name: &str) -> FunctionOutcome {
    unknown(name, CHANCE)
}

pub(super) const TABLE: &[Row] = &[
    ("randAlphaNum", "i", Careful, |_| chance("randAlphaNum")),
    ("randAlpha", "i", Careful, |_| chance("randAlpha")),
    ("randAscii", "i", Careful, |_| chance("randAscii")),
    ("randNumeric", "i", Careful, |_| chance("randNumeric")),
    ("randBytes", "i", Careful, |_| chance("randBytes")),
    ("randInt", "ii", Careful, |_| chance("randInt")),
    ("shuffle", "s", Careful, |_| chance("shuffle")),
    ("uuidv4", "", Careful, |_| chance("uuidv4")),
    ("now", "", Careful, |_| unknown("now", TIME)),
    ("ago", "a", Careful, |_| unknown("ago", TIME)),
    ("date", "sa", Careful, |_| unknown("date", TIME)),
    ("dateInZone", "sas", Careful, |_| unknown("date", TIME)),
    ("date_in_zone", "sas", Careful, |_| unknown("date", TIME)),
    ("dateModify", "sa", Careful, |_| unknown("date", TIME)),
    ("date_modify", "sa", Careful, |_| unknown("date", TIME)),
    ("mustDateModify", "sa", Careful, |_| unknown("date", TIME)),
    ("must_date_modify", "sa", Careful, |_| unknown("date", TIME)),
    ("htmlDate", "a", Careful, |_| unknown("date", TIME)),
    ("htmlDateInZone", "as", Careful, |_| unknown("date", TIME)),
    ("toDate", "ss", Careful, |_| unknown("date", "gpulint does not compute dates")),
    ("mustToDate", "ss", Careful, |_| unknown("date", "gpulint does not compute dates")),
    ("unixEpoch", "a", Careful, |_| unknown("date", TIME)),
    ("getHostByName", "s", Plain, |_| Ok("".into())),
    ("bcrypt", "s", Careful, |_| unknown("bcrypt", PASSWORDS)),
    ("htpasswd", "ss", Careful, |_| unknown("htpasswd", PASSWORDS)),
    ("derivePassword", "issss", Careful, |_| unknown("derivePassword", PASSWORDS)),
    ("genPrivateKey", "s", Careful, |_| unknown("genPrivateKey", KEYS)),
    ("buildCustomCert", "ss", Careful, |_| unknown("buildCustomCert", KEYS)),
    ("genCA", "si", Careful, |_| unknown("genCA", KEYS)),
    ("genCAWithKey", "sis", Careful, |_| unknown("genCA", KEYS)),
    ("genSelfSignedCert", "saai", Careful, |_| unknown("genSelfSignedCert", KEYS)),
    ("genSelfSignedCertWithKey", "saais", Careful, |_| unknown("genSelfSignedCert", KEYS)),
    ("genSignedCert", "saaia", Careful, |_| unknown("genSignedCert", KEYS)),
    ("genSignedCertWithKey", "saaias", Careful, |_| unknown("genSignedCert", KEYS)),
    ("encryptAES", "ss", Careful, |_| unknown("encryptAES", CHANCE)),
    ("decryptAES", "ss", Careful, |_| unknown("decryptAES", PASSWORDS)),
];
