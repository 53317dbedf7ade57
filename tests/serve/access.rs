//! Users, roles and encryption: nobody gets in uninvited, and whoever is in may do what was granted.

use std::process::Command;

use bson::{Document, doc};

use super::clients::{prints, script, tool};
use super::server::{Serving, Wire};
use crate::program::{Program, tally};
use crate::remote::certificate;

/// Code and words of a refusal.
fn refused(reply: &Document) -> (i32, &str) {
    assert_eq!(reply.get_f64("ok").ok(), Some(0.0), "{reply}");
    (reply.get_i32("code").unwrap(), reply.get_str("errmsg").unwrap())
}

fn user(name: &str, password: &str, roles: &[&str]) -> Document {
    doc! { "createUser": name, "pwd": password, "roles": roles }
}

/// A shell on a database, as a user.
fn shell(server: &Serving, login: &str, db: &str, code: &str) -> Program {
    let address = format!("mongodb://{login}127.0.0.1:{}/{db}", server.port);
    tally([&*address, "--quiet", "--timeout", "20s", "--eval", code])
}

#[test]
fn without_a_login_nothing_can_be_done_but_to_log_in() {
    let server = Serving::with(&["--ephemeral", "--auth"]);
    let mut client = server.connect();
    for free in ["hello", "isMaster", "ping", "buildInfo", "connectionStatus", "whatsmyuri"] {
        let reply = client.run("admin", doc! { free: 1 });
        assert_eq!(reply.get_f64("ok").ok(), Some(1.0), "{free}");
    }
    for (command, words) in [
        (doc! { "find": "t" }, "Command find requires authentication"),
        (doc! { "insert": "t", "documents": [{}] }, "Command insert requires authentication"),
        (doc! { "serverStatus": 1 }, "Command serverStatus requires authentication"),
        (doc! { "shutdown": 1 }, "Command shutdown requires authentication"),
        (doc! { "usersInfo": 1 }, "Command usersInfo requires authentication"),
        (doc! { "find": "system.users" }, "Command find requires authentication"),
    ] {
        assert_eq!(refused(&client.run("admin", command)), (13, words));
    }
    // Whoever is at this machine may make the first user, in `admin`; then nobody may without a login.
    let words = "Command createUser requires authentication";
    assert_eq!(refused(&client.run("shop", user("ann", "x", &["readWrite"]))), (13, words));
    assert_eq!(client.run("admin", user("boss", "s3cret", &["root"])), doc! { "ok": 1.0 });
    assert_eq!(refused(&client.run("admin", user("other", "x", &["root"]))), (13, words));
    assert_eq!(refused(&server.connect().run("admin", user("other", "x", &["root"]))), (13, words));
}

/// A server that knows `boss`, who may do everything, and three users of `shop`.
fn with_users(arguments: &[&str]) -> Serving {
    let server = Serving::with(arguments);
    server.connect().run("admin", user("boss", "s3cret", &["root"]));
    let code = "
        db = db.getSiblingDB('shop');
        for (const role of ['read', 'readWrite', 'dbAdmin']) {
            print(db.runCommand({createUser: role, pwd: 'p@ss:w/rd', roles: [role]}).ok);
        }
        db.t.insert({_id: 1});
        print(db.runCommand({createUser: 'read', pwd: 'x', roles: []}).code);
        print(db.runCommand({createUser: 'x', pwd: 'x', roles: ['king']}).code);
        print(db.runCommand({createUser: 'x', pwd: '', roles: []}).ok, db.runCommand({createUser: 'x', roles: []}).ok);
        print(db.runCommand({dropUser: 'nobody'}).codeName);
    ";
    let outcome = shell(&server, "boss:s3cret@", "admin", code).run();
    outcome.prints("1\n1\n1\n51003\n31\n0 0\nUserNotFound\n");
    server
}

#[test]
fn a_role_is_what_a_user_may_do() {
    let server = with_users(&["--ephemeral", "--auth"]);
    let code = "
        function able(run) { try { run(); return 'yes' } catch (e) { return e.code == 13 ? 'no' : e } }
        function ok(command, on = db) { const r = on.runCommand(command); return r.ok ? 'yes' : r.code == 13 ? 'no' : tojson(r) }
        const other = db.getSiblingDB('other'), admin = db.getSiblingDB('admin');
        print([
            ok({find: 't'}), ok({insert: 't', documents: [{}]}), ok({create: 'made'}),
            ok({aggregate: 't', pipeline: [{$out: 'copy'}], cursor: {}}), ok({collStats: 't'}), ok({validate: 't'}),
            ok({find: 't'}, other), ok({insert: 't', documents: [{}]}, other), ok({find: 'system.users'}, admin),
            ok({aggregate: 't', pipeline: [{$out: {db: 'other', coll: 't'}}], cursor: {}}),
            ok({createUser: 'x', pwd: 'x', roles: []}), ok({serverStatus: 1}), ok({shutdown: 1}, admin),
        ].join(' '));
        print(admin.runCommand({listDatabases: 1}).databases.map(d => d.name).join(' '));
        const who = db.runCommand({connectionStatus: 1}).authInfo;
        print(who.authenticatedUsers[0].user, who.authenticatedUserRoles[0].role, who.authenticatedUserRoles[0].db);
    ";
    let expect = |name: &str, words: &str, databases: &str| {
        let login = format!("{name}:p%40ss%3Aw%2Frd@");
        let expected = format!("{words}\n{databases}\n{name} {name} shop\n");
        shell(&server, &login, "shop", code).run().prints(&expected);
    };
    expect("read", "yes no no no yes no no no no no no no no", "shop");
    expect("readWrite", "yes yes yes yes yes no no no no no no no no", "shop");
    expect("dbAdmin", "no no yes no yes yes no no no no no no no", "shop");
    // The users are not to be reached by way of another database, nor to be dropped with their own.
    let code = "
        const admin = db.getSiblingDB('admin'), roles = [
            {role: 'readWrite', db: 'shop'}, {role: 'readWrite', db: 'admin'}, {role: 'dbAdmin', db: 'admin'}];
        db.getSiblingDB('shop').runCommand({updateUser: 'readWrite', roles: roles}).ok";
    shell(&server, "boss:s3cret@", "admin", code).run().prints("1\n");
    let code = "
        const admin = db.getSiblingDB('admin'), into = {db: 'admin', coll: 'system.users'};
        const code = (on, command) => on.runCommand(command).code || 0;
        print(code(admin, {insert: 't', documents: [{}]}), code(admin, {find: 'system.users'}),
            code(db, {aggregate: 't', pipeline: [{$merge: {into: into}}], cursor: {}}),
            code(db, {aggregate: 't', pipeline: [{$out: into}], cursor: {}}),
            code(admin, {aggregate: 't', pipeline: [{$lookup: {from: 'system.users', pipeline: [], as: 'a'}}], cursor: {}}),
            code(admin, {create: 'v', viewOn: 'system.users', pipeline: []}),
            code(admin, {renameCollection: 'admin.system.users', to: 'admin.t2'}),
            code(admin, {drop: 'system.users'}), code(admin, {dropDatabase: 1}))";
    let login = "readWrite:p%40ss%3Aw%2Frd@";
    shell(&server, login, "shop", code).run().prints("0 13 13 13 13 13 13 13 13\n");
    // The words of a server.
    let login = "read:p%40ss%3Aw%2Frd@";
    let code = "print(db.runCommand({delete: 't', deletes: []}).errmsg.slice(0, 52))";
    let words = "not authorized on shop to execute command { delete: \n";
    shell(&server, login, "shop", code).run().prints(words);
}

#[test]
fn a_wrong_password_is_refused_and_a_changed_user_is_another() {
    let server = with_users(&["--ephemeral", "--auth"]);
    for wrong in ["boss:wrong@", "nobody:s3cret@", "boss:@"] {
        let outcome = shell(&server, wrong, "admin", "1").run().exits(1);
        assert!(outcome.err.contains("exception: connect failed"), "{}", outcome.err);
    }
    // A user of another database is another user.
    shell(&server, "read:p%40ss%3Aw%2Frd@", "other", "1").run().exits(1);
    for mechanism in ["SCRAM-SHA-1", "SCRAM-SHA-256"] {
        let db = format!("admin?authMechanism={mechanism}");
        shell(&server, "boss:s3cret@", &db, "db.runCommand({usersInfo: 1}).users.length")
            .run()
            .prints("1\n");
    }
    let change = |command: &str| {
        let code = format!("db.getSiblingDB('shop').runCommand({command}).ok");
        shell(&server, "boss:s3cret@", "admin", &code).run().prints("1\n");
    };
    change("{updateUser: 'read', pwd: 'new', roles: ['readWrite']}");
    shell(&server, "read:p%40ss%3Aw%2Frd@", "shop", "1").run().exits(1);
    shell(&server, "read:new@", "shop", "db.t.insert({}).nInserted").run().prints("1\n");
    change("{dropUser: 'read'}");
    shell(&server, "read:new@", "shop", "1").run().exits(1);
}

/// What is on the disk does not tell a password, and the next server knows the users.
#[test]
fn users_are_kept_salted() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let data = data.to_str().unwrap();
    let server = with_users(&["--data", data, "--auth"]);
    server.signal("-KILL");
    server.ended();
    let code = "
        const users = db.getSiblingDB('admin').getCollection('system.users').find().toArray();
        print(users.length, /s3cret|p@ss/.test(tojson(users)));
        print(new Set(users.map(user => user.credentials['SCRAM-SHA-256'].salt)).size);
        print(Object.keys(users[0].credentials['SCRAM-SHA-1']).join(' '));
    ";
    let expected = "4 false\n4\niterationCount salt storedKey serverKey\n";
    tally(["--data", data, "--quiet", "--eval", code]).run().prints(expected);
    let server = Serving::with(&["--data", data, "--auth"]);
    shell(&server, "boss:s3cret@", "admin", "db.getSiblingDB('shop').t.count()")
        .run()
        .prints("1\n");
    // There are users, so there is no first one.
    let reply = server.connect().run("admin", user("other", "x", &["root"]));
    assert_eq!(refused(&reply).0, 13);
}

#[test]
fn other_clients_log_in() {
    let server = with_users(&["--ephemeral", "--auth"]);
    let address = format!("mongodb://boss:s3cret@127.0.0.1:{}/?authSource=admin", server.port);
    for environment in ["pymongo/bin/python", "pymongo3/bin/python"] {
        let Some(python) = tool(environment) else { continue };
        for mechanism in ["SCRAM-SHA-1", "SCRAM-SHA-256"] {
            let mut command = Command::new(&python);
            command.arg(script("login.py")).arg(format!("{address}&authMechanism={mechanism}"));
            prints(&mut command, "1\nOperationFailure 18\n");
        }
    }
    if let Some(tools) = tool("node/node_modules/mongodb") {
        let mut command = Command::new("node");
        command.arg(script("login.mjs")).arg(&address).arg(tools.ancestors().nth(2).unwrap());
        prints(&mut command, "1\n18\n");
    }
}

/// The three messages of a login, without their right contents.
#[test]
fn a_login_out_of_order_is_refused() {
    let server = with_users(&["--ephemeral", "--auth"]);
    let start = |mechanism: &str, payload: &str| {
        let payload =
            bson::Binary { subtype: bson::spec::BinarySubtype::Generic, bytes: payload.into() };
        doc! { "saslStart": 1, "mechanism": mechanism, "payload": payload }
    };
    let next = |payload: &str| {
        let mut command = doc! { "saslContinue": 1, "conversationId": 1 };
        command.extend(start("", payload).into_iter().filter(|(name, _)| name == "payload"));
        command
    };
    let mut client = server.connect();
    let code = |client: &mut Wire, command: Document| refused(&client.run("admin", command)).0;
    assert_eq!(code(&mut client, next("c=biws")), 17);
    assert_eq!(code(&mut client, start("PLAIN", "\0boss\0s3cret")), 334);
    for odd in ["", "n,,", "n,,n=boss", "p=tls-unique,,n=boss,r=x", "n,,n=nobody,r=x"] {
        assert_eq!(code(&mut client, start("SCRAM-SHA-256", odd)), 18, "{odd}");
    }
    for odd in ["", "c=biws,r=x,p=x", "c=biws,r=x", ",p=", "c=biws,r=x,p=AAAA"] {
        let begun = client.run("admin", start("SCRAM-SHA-256", "n,,n=boss,r=x"));
        assert_eq!(begun.get_bool("done").ok(), Some(false));
        assert_eq!(code(&mut client, next(odd)), 18, "{odd}");
        // A failed login has to begin anew, and nobody is logged in.
        assert_eq!(code(&mut client, next(odd)), 17, "{odd}");
        assert_eq!(code(&mut client, doc! { "find": "t" }), 13);
    }
}

#[test]
fn encryption_and_certificates_of_clients() {
    let folder = tempfile::tempdir().unwrap();
    let (pem, key) = certificate(folder.path());
    let flags = ["--ephemeral", "--tls-cert", &pem, "--tls-key", &key];
    let run = |server: &Serving, flags: &[&str]| {
        let address = server.address("shop");
        let rest = ["--quiet", "--timeout", "4s", "--eval", "db.t.insertOne({}).acknowledged"];
        tally([&*address].into_iter().chain(flags.iter().copied()).chain(rest)).run()
    };
    let server = Serving::with(&flags);
    run(&server, &["--tls", "--tlsCAFile", &pem]).prints("true\n");
    run(&server, &["--tls"]).exits(1);
    run(&server, &[]).exits(1);
    let both = folder.path().join("both.pem");
    let text = |path: &str| std::fs::read_to_string(path).unwrap();
    std::fs::write(&both, text(&pem) + &text(&key)).unwrap();
    let both = both.to_str().unwrap();
    let strict = Serving::with(&["--ephemeral", "--tls-cert", both, "--tls-ca", &pem]);
    run(&strict, &["--tls", "--tlsCAFile", &pem, "--tlsCertificateKeyFile", both]).prints("true\n");
    run(&strict, &["--tls", "--tlsCAFile", &pem]).exits(1);

    // Another address needs both, or to be told that it does not.
    let open = ["serve", "--port", "0", "--ephemeral", "--bind", "0.0.0.0"];
    let encrypted = ["--tls-cert", &pem, "--tls-key", &key];
    for part in [&[][..], &["--auth"], &encrypted] {
        let outcome = tally(open.iter().chain(part)).run().exits(2);
        assert!(outcome.err.contains("--bind 0.0.0.0 lets other machines in"), "{}", outcome.err);
    }
    for wrong in [
        &["--tls-key", &*key][..],
        &["--tls-ca", &pem],
        &["--tls-cert", &key],
        &["--tls-cert", &pem],
        &["--tls-cert", "no such file"],
        &["--tls-cert", both, "--tls-ca", &key],
    ] {
        tally(["serve", "--port", "0", "--ephemeral"].iter().chain(wrong)).run().exits(2);
    }
}
