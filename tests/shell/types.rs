//! BSON classes: constructors, methods, texts.

use super::{mongo, mongosh};

#[test]
fn object_ids_of_either_shell() {
    mongo().talks(&[
        (
            "var o = ObjectId('507f1f77bcf86cd799439011'); o",
            "ObjectId(\"507f1f77bcf86cd799439011\")",
        ),
        (
            "[o.str, o.valueOf(), '' + o, o.toString().length, o.equals(ObjectId(o.str))].join()",
            "507f1f77bcf86cd799439011,507f1f77bcf86cd799439011,507f1f77bcf86cd799439011,36,true",
        ),
        ("o.getTimestamp()", "ISODate(\"2012-10-17T21:13:27Z\")"),
        ("JSON.stringify(o)", "{\"$oid\":\"507f1f77bcf86cd799439011\"}"),
        (
            "o == '507f1f77bcf86cd799439011' && new ObjectId() instanceof ObjectId && o.isObjectId",
            "true",
        ),
        ("ObjectId('bad')", "Error: invalid object id: length"),
        ("ObjectId('zzzzzzzzzzzzzzzzzzzzzzzz')", "Error: invalid object id: not hex"),
        ("ObjectId.fromDate(new Date(1000))", "ObjectId(\"000000010000000000000000\")"),
    ]);
    mongosh().talks(&[
        ("const o = ObjectId('507f1f77bcf86cd799439011'); print(o.str, o.toString(), '' + o, o.toHexString())", " 507f1f77bcf86cd799439011 507f1f77bcf86cd799439011 507f1f77bcf86cd799439011"),
        ("ObjectId('bad')", "BSONError: input must be a 24 character hex string, 12 byte Uint8Array, or an integer"),
        ("ObjectId.createFromTime(1)", "ObjectId('000000010000000000000000')"),
    ]);
}

#[test]
fn longs_count_exactly() {
    mongo().talks(&[
        ("var n = NumberLong(5); print(n + 1, n == 5, n === 5, NumberLong(5) == NumberLong(5), n.toNumber(), typeof n)", "6 true false false 5 object"),
        ("NumberLong('9007199254740993').compare(NumberLong('9007199254740992'))", "1"),
        ("NumberLong('9007199254740993').add(1)", "NumberLong(\"9007199254740994\")"),
        ("NumberLong('9223372036854775807').add(1)", "Error: the result passes the end of 64-bit integers"),
        ("[NumberLong('2147483647'), NumberLong('2147483648')]", "[ NumberLong(2147483647), NumberLong(\"2147483648\") ]"),
        ("NumberLong('2') < NumberLong('10')", "true"),
        ("NumberLong('abc')", "Error: could not convert string to long long"),
        ("NumberLong(1e19)", "Error: number passed to NumberLong must be representable as an int64_t"),
        ("JSON.stringify({a: NumberLong(5), b: NumberInt(3)})", "{\"a\":{\"$numberLong\":\"5\"},\"b\":3}"),
        ("Object.keys(NumberLong(5)).length", "0"),
        ("[NumberLong('9007199254740993').exactValueString, NumberLong(5).exactValueString, NumberLong('4294967297').top, NumberLong('4294967297').bottom].join()", "9007199254740993,,1,1"),
    ]);
    let mut shell = mongosh();
    shell.talks(&[
        ("NumberLong('5') + 1", "51"),
        ("NumberLong('5') * 2", "10"),
        ("NumberLong('9007199254740993')", "Long('9007199254740993')"),
        ("NumberLong(5)", "Long('5')"),
    ]);
    assert!(
        shell
            .noticed()
            .starts_with("Warning: NumberLong: specifying a number as argument is deprecated")
    );
}

#[test]
fn the_other_classes_make_and_tell() {
    mongo().talks(&[
        (
            "[NumberInt('7'), NumberInt(3.9), NumberInt(3) + NumberInt(4)]",
            "[ NumberInt(7), NumberInt(3), 7 ]",
        ),
        (
            "[NumberDecimal('0.1'), NumberDecimal(1)]",
            "[ NumberDecimal(\"0.1\"), NumberDecimal(\"1\") ]",
        ),
        ("NumberDecimal('x')", "Error: Input is not a valid Decimal128 value."),
        ("var t = Timestamp(1, 2); [t.t, t.i, t.getTime(), t.getInc()]", "[ 1, 2, 1, 2 ]"),
        ("'' + t", "Timestamp(1, 2)"),
        (
            "var b = BinData(0, 'YWJj'); [b.subtype(), b.length(), b.base64(), b.hex()]",
            "[ 0, 3, \"YWJj\", \"616263\" ]",
        ),
        ("b", "BinData(0,\"YWJj\")"),
        ("BinData(256, '')", "Error: BinData subtype must be a Number between 0 and 255 inclusive"),
        ("HexData(0, '616263')", "BinData(0,\"YWJj\")"),
        (
            "UUID('3b241101-e2bb-4255-8caf-4136c566a962')",
            "UUID(\"3b241101-e2bb-4255-8caf-4136c566a962\")",
        ),
        ("UUID('0123456789abcdef0123456789abcdef').subtype()", "3"),
        ("UUID().subtype() + ' ' + UUID().hex().length", "4 32"),
        ("MD5('900150983cd24fb0d6963f7d28e17f72').subtype()", "5"),
        ("DBRef('c', 1)", "DBRef(\"c\", 1)"),
        ("db.c.insert({_id: 1, x: 5}); DBRef('c', 1).fetch().x", "5"),
        ("[DBRef('c', 1).getRef(), DBRef('c', 1).getId()]", "[ \"c\", 1 ]"),
        ("MinKey()", "{ \"$minKey\" : 1 }"),
        (
            "DBPointer('test.c', ObjectId('507f1f77bcf86cd799439011')).getId()",
            "ObjectId(\"507f1f77bcf86cd799439011\")",
        ),
        ("ISODate('2020-01-01')", "ISODate(\"2020-01-01T00:00:00Z\")"),
        ("ISODate('2020-1-1')", "Error: invalid ISO date: 2020-1-1"),
        ("ISODate('2020-01-01') instanceof Date", "true"),
    ]);
    mongosh().talks(&[
        (
            "ISODate('2020-1-1')",
            "MongoshInvalidInputError: [COMMON-10001] \"2020-1-1\" is not a valid ISODate",
        ),
        ("NumberDecimal('abc')", "BSONError: abc not a valid Decimal128 string"),
        ("NumberInt(3000000000)", "Int32(-1294967296)"),
        ("Timestamp({t: 1, i: 2}).toString()", "4294967298"),
    ]);
}
