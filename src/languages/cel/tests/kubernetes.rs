//! Evaluates examples from the Kubernetes documentation of its functions.

use super::super::{CelBudget, CelValue};
use super::{Fixed, compile_unchecked};

fn evaluate_text(text: &str) -> Result<bool, String> {
    let program = compile_unchecked(text, &[]).map_err(|problem| problem.message)?;
    match program.evaluate(&Fixed { values: Vec::new() }, &mut CelBudget::standard()).result {
        Ok(CelValue::Flag(flag)) => Ok(flag),
        Ok(other) => Err(format!("{other:?}")),
        Err(failure) => Err(failure.message),
    }
}

#[test]
fn functions_of_kubernetes_do_what_its_documentation_says() {
    for text in [
        // lists
        "[1, 2, 3].isSorted() && !['b', 'a'].isSorted() && [].isSorted()",
        "[1, 3].sum() == 4 && [1.0, 3.0].sum() == 4.0 && [duration('1m'), duration('1s')].sum() == duration('61s')",
        "['a', 'b'].min() == 'a' && [1, 3].max() == 3",
        "[1, 2, 2, 3].indexOf(2) == 1 && ['a', 'b', 'b'].lastIndexOf('b') == 2 && [1.0].indexOf(1.1) == -1",
        // regular expressions
        "'abc 123'.find('[0-9]+') == '123' && 'abc'.find('[0-9]+') == ''",
        "'1.2.3.4'.findAll('[0-9]+') == ['1', '2', '3', '4']",
        "'1.2.3.4'.findAll('[0-9]+', 2) == ['1', '2']",
        // URLs
        "url('https://example.com:80/').getHost() == 'example.com:80'",
        "url('https://example.com/path with spaces/').getEscapedPath() == '/path%20with%20spaces/'",
        "url('/path').getScheme() == '' && url('/path').getHost() == ''",
        "url('https://[::1]:80/').getHostname() == '::1' && url('https://[::1]:80/').getHost() == '[::1]:80'",
        "url('https://example.com/').getPort() == ''",
        "url('https://example.com/?k1=a&k2=b&k2=c').getQuery() == {'k1': ['a'], 'k2': ['b', 'c']}",
        "url('https://example.com/path?k1=a+b').getQuery()['k1'] == ['a b']",
        "isURL('https://user:pass@example.com:80/path?query=val#fragment') && isURL('/absolute-path')",
        "!isURL('https://a:b:c/') && !isURL('../relative-path')",
        // quantities
        "isQuantity('1.3Gi') && isQuantity('1.3') && !isQuantity('1.3 Gi') && !isQuantity('xyz')",
        "quantity('50k') == quantity('50000') && quantity('1Ki').asInteger() == 1024",
        "quantity('50M').isLessThan(quantity('50Mi')) && !quantity('150Mi').isLessThan(quantity('100Mi'))",
        "quantity('200M').compareTo(quantity('0.2G')) == 0 && quantity('1').compareTo(quantity('2')) == -1",
        "quantity('50k').add(20) == quantity('50020') && quantity('50k').sub(quantity('20k')) == quantity('30k')",
        "quantity('-5').sign() == -1 && quantity('0').sign() == 0 && quantity('500m').asApproximateFloat() == 0.5",
        // addresses
        "ip('2001:db8::abcd').family() == 6 && isIP('127.0.0.1') && !isIP('::ffff:1.2.3.4')",
        "ip.isCanonical('2001:db8::abcd') && !ip.isCanonical('2001:DB8::ABCD')",
        "ip('10.0.0.1').isGlobalUnicast() && !ip('127.0.0.1').isGlobalUnicast()",
        "cidr('192.168.0.0/24').containsIP('192.168.0.1') && cidr('10.0.0.0/8').masked() == cidr('10.0.0.0/8')",
        "cidr('2001:db8::/32').prefixLength() == 32 && isCIDR('10.0.0.0/8') && !isCIDR('10.0.0.0/33')",
        // versions
        "semver('1.2.3').compareTo(semver('2.0.0')) < 0 && semver('0.1.0').isLessThan(semver('0.1.1'))",
        "isSemver('1.0.0') && !isSemver('v1.0') && isSemver('v1.0', true) && semver('1.2.3').major() == 1",
        "semver('1.0.0-beta.2').isLessThan(semver('1.0.0-beta.11')) && semver('1.0.0-rc').isLessThan(semver('1.0.0'))",
        // formats of names
        "!format.dns1123Label().validate('contains a space').orValue([]).isSorted() || format.named('x') == optional.none()",
        "format.dns1123Label().validate('my-name') == optional.none()",
        "format.dns1123Label().validate('My_Name').hasValue()",
        "format.qualifiedName().validate('example.com/gpu').hasValue() == false",
        "format.uuid().validate('123e4567-e89b-12d3-a456-426614174000') == optional.none()",
        // Strings, sets, and macros with two variables.
        "'%s costs %.2f'.format(['a10', 1.5]) == 'a10 costs 1.50' && 'a,b'.split(',').join('-') == 'a-b'",
        "sets.contains([1, 2, 3], [2]) && sets.equivalent([1], [1, 1]) && sets.intersects([1], [1, 2])",
        "['a', 'b'].all(i, x, i < 2 && x != '') && {'a': 1}.exists(k, v, k == 'a' && v == 1)",
        "[1, 2].transformList(i, x, x * 2) == [2, 4] && {'a': 1}.transformMap(k, v, v + 1) == {'a': 2}",
        "cel.bind(x, 3, x * x) == 9 && optional.of(2).optMap(y, y + 1).value() == 3",
        "'nvidia.com/gpu' in {'nvidia.com/gpu': 1} && has({'a-b': 1}.`a-b`)",
    ] {
        assert_eq!(evaluate_text(text), Ok(true), "{text}");
    }
    for wrong in [
        "quantity('5.5Xi') == quantity('1')",
        "quantity('0.5').asInteger() == 1",
        "ip('1.2.3') == ip('1.2.3')",
        "url('../a').getHost() == ''",
        "semver('1') == semver('1')",
        "[].min() == 1",
    ] {
        assert!(evaluate_text(wrong).is_err(), "{wrong}");
    }
}
