//! Detection of the header of a table, and of the columns with the ends of an edge.
//!
//! Headers are those of real data sets and exports; bodies are made here. Nothing in this file is read
//! from the list of known names, so that a mistake in the list is found.

use ripplet_graph::EdgeTable;
use ripplet_io::{Columns, Format, Header, IdKind, ReadOptions, parse_edges};

fn rows_of(table: &EdgeTable) -> Vec<[String; 2]> {
    let name = |&vertex: &u32| table.ids().get(vertex).to_string();
    table.sources().iter().zip(table.targets()).map(|(s, t)| [name(s), name(t)]).collect()
}

fn read_with(
    text: &str,
    format: Format,
    options: &ReadOptions,
) -> Result<Vec<[String; 2]>, String> {
    let read = parse_edges(text.as_bytes(), format, options);
    read.map(|table| rows_of(&table)).map_err(|error| error.to_string())
}

fn read(text: &str, format: Format) -> Result<Vec<[String; 2]>, String> {
    read_with(text, format, &ReadOptions::default())
}

fn by_columns(source: &str, target: &str) -> ReadOptions {
    let columns = Columns { source: source.into(), target: target.into(), ..Columns::default() };
    ReadOptions { columns, ..ReadOptions::default() }
}

fn with_header(header: Header) -> ReadOptions {
    ReadOptions { header, ..ReadOptions::default() }
}

/// Names of the two ends of an edge, as data sets, exports and databases have them.
const PAIRS: [[&str; 2]; 76] = [
    ["source", "target"],
    ["Source", "Target"],
    ["SOURCE", "TARGET"],
    ["src", "dst"],
    ["src", "dest"],
    ["from", "to"],
    ["From", "To"],
    ["from_id", "to_id"],
    ["fromId", "toId"],
    ["FromNodeId", "ToNodeId"],
    ["from_node", "to_node"],
    ["from_account", "to_account"],
    ["account_from", "account_to"],
    ["AccountFrom", "AccountTo"],
    ["from_address", "to_address"],
    ["_from", "_to"],
    [":START_ID", ":END_ID"],
    ["START_ID", "END_ID"],
    ["startVertex", "endVertex"],
    ["startNodeId", "endNodeId"],
    ["start_node", "end_node"],
    ["u", "v"],
    ["i", "j"],
    ["sender", "receiver"],
    ["Sender", "Receiver"],
    ["sender_id", "receiver_id"],
    ["SENDER_ACCOUNT_ID", "RECEIVER_ACCOUNT_ID"],
    ["Sender_account", "Receiver_account"],
    ["sender", "recipient"],
    ["buyer", "seller"],
    ["BuyerID", "SellerID"],
    ["payer", "payee"],
    ["Payer Id", "Payee Id"],
    ["nameOrig", "nameDest"],
    ["nameorig", "namedest"],
    ["orig_acct", "bene_acct"],
    ["customer", "merchant"],
    ["customer_id", "merchant_id"],
    ["debtor", "creditor"],
    ["debit_account", "credit_account"],
    ["lender", "borrower"],
    ["src_ip", "dst_ip"],
    ["srcip", "dstip"],
    ["Source IP", "Destination IP"],
    ["source_computer", "destination_computer"],
    ["id.orig_h", "id.resp_h"],
    ["saddr", "daddr"],
    ["id1", "id2"],
    ["id_1", "id_2"],
    ["ID1", "ID2"],
    ["node1", "node2"],
    ["node_1", "node_2"],
    ["Node1", "Node2"],
    ["txId1", "txId2"],
    ["user1", "user2"],
    ["user_a", "user_b"],
    ["protein1", "protein2"],
    ["Person A", "Person B"],
    ["v1", "v2"],
    ["follower", "followee"],
    ["follower_id", "followee_id"],
    ["follower", "followed"],
    ["from_user", "to_user"],
    ["user", "friend"],
    ["user_id", "friend_id"],
    ["user_id", "item_id"],
    ["citing", "cited"],
    ["caller", "callee"],
    ["parent", "child"],
    ["origin", "destination"],
    ["ORIGIN", "DEST"],
    ["origin_airport", "destination_airport"],
    ["exporter", "importer"],
    ["SOURCE_SUBREDDIT", "TARGET_SUBREDDIT"],
    ["head", "tail"],
    ["donor", "recipient"],
];

/// Edges between numbers, and between words that come again or do not.
const BODIES: [[[&str; 2]; 3]; 4] = [
    [["1", "2"], ["2", "3"], ["3", "1"]],
    [["ann", "bob"], ["bob", "cyd"], ["cyd", "ann"]],
    [["C1231006815", "M1979787155"], ["C1666544295", "M2044282225"], ["C1305486145", "C553264065"]],
    [["10.0.0.1", "10.0.0.2"], ["10.0.0.2", "192.168.1.9"], ["10.0.0.7", "10.0.0.1"]],
];

fn owned(rows: &[[&str; 2]]) -> Vec<[String; 2]> {
    rows.iter().map(|row| row.map(String::from)).collect()
}

#[test]
fn known_names_are_a_header_whatever_is_below_them() {
    let mut wrong = Vec::new();
    for [a, b] in PAIRS {
        for body in BODIES {
            let tables = [
                (Format::Csv, format!("{a},{b}\n"), ","),
                (Format::Csv, format!("\"{a}\",\"{b}\"\r\n"), ","),
                (Format::Csv, format!("{a};{b}\n"), ";"),
                (Format::Tsv, format!("{a}\t{b}\n"), "\t"),
            ];
            for (format, header, separator) in tables {
                let rows: String =
                    body.iter().map(|[s, t]| format!("{s}{separator}{t}\n")).collect();
                let found = read(&format!("{header}{rows}"), format);
                if found.as_ref() != Ok(&owned(&body)) {
                    wrong.push(format!("{header:?} above {body:?}: {found:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn known_names_are_found_anywhere_in_a_header() {
    let mut wrong = Vec::new();
    for [a, b] in PAIRS {
        for [s, t] in [["1", "2"], ["ann", "bob"]] {
            let text = format!(
                "step,kind,{a},fraud,{b},amount\n1,PAYMENT,{s},0,{t},9839.64\n1,PAYMENT,{t},1,x{t},1.5\n"
            );
            let expected = vec![[s.into(), t.into()], [t.into(), format!("x{t}")]];
            // Ids must not change from numbers to names.
            let text = if s == "1" { text.replace(",x2,", ",3,") } else { text };
            let expected = if s == "1" { owned(&[["1", "2"], ["2", "3"]]) } else { expected };
            let found = read(&text, Format::Csv);
            if found.as_ref() != Ok(&expected) {
                wrong.push(format!("{a}, {b} of {s}, {t}: {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn an_index_without_a_name_is_ignored() {
    let expected = owned(&[["ann", "bob"], ["bob", "cyd"]]);
    for text in [
        ",source,target\n0,ann,bob\n1,bob,cyd\n",
        ",payee,payer,amount\n0,bob,ann,3.5\n1,cyd,bob,4\n",
        "\"\",id1,id2,at\n0,ann,bob,2024-01-01\n1,bob,cyd,2024-01-02\n",
    ] {
        assert_eq!(read(text, Format::Csv), Ok(expected.clone()), "{text:?}");
    }
    let unknown = read(",who,shop\n0,ann,bob\n1,bob,cyd\n", Format::Csv).unwrap_err();
    assert!(unknown.contains("no name") && unknown.contains("--columns who,shop"), "{unknown}");
    // A cell is missing in an edge.
    for text in [",b\nc,d\n", ",b,c\nd,e,f\n", ",source,target\nann,bob,cyd\n"] {
        let missing = read(text, Format::Csv).unwrap_err();
        assert!(missing.contains("a vertex id is empty"), "{text:?}: {missing}");
    }
}

#[test]
fn tables_of_real_data_sets_have_the_edges_that_their_owners_mean() {
    for (name, text, expected) in [
        (
            "PaySim",
            "step,type,amount,nameOrig,oldbalanceOrg,newbalanceOrig,nameDest,oldbalanceDest,\
             newbalanceDest,isFraud\n1,PAYMENT,9839.64,C1,170136.0,160296.36,M1,0.0,0.0,0\n\
             1,TRANSFER,181.0,C2,181.0,0.0,C3,0.0,0.0,1\n",
            &[["C1", "M1"], ["C2", "C3"]][..],
        ),
        (
            "AMLSim",
            "tran_id,orig_acct,bene_acct,tx_type,base_amt,tran_timestamp,is_sar,alert_id\n\
             1,7120,7119,TRANSFER,285.4,2017-01-01T00:00:00Z,False,-1\n\
             2,7119,12,TRANSFER,5.4,2017-01-01T00:00:00Z,False,-1\n",
            &[["7120", "7119"], ["7119", "12"]],
        ),
        (
            "SAML-D",
            "Time,Date,Sender_account,Receiver_account,Amount,Payment_currency,Received_currency,\
             Sender_bank_location,Receiver_bank_location,Payment_type,Is_laundering\n\
             10:35:19,2022-10-07,8724731955,2769355426,1459.15,UK pounds,UK pounds,UK,UK,Deposit,0\n",
            &[["8724731955", "2769355426"]],
        ),
        (
            "dates first",
            "id,date,from,to\n7,2024-01-01,1,2\n8,2024-01-02,2,3\n",
            &[["1", "2"], ["2", "3"]],
        ),
        (
            "dates first, names",
            "id,date,from,to\n7,2024-01-01,ann,bob\n8,2024-01-02,bob,cyd\n",
            &[["ann", "bob"], ["bob", "cyd"]],
        ),
        (
            "NetFlow",
            "ts,src_ip,src_port,dst_ip,dst_port,proto,src_bytes,dst_bytes\n\
             1.5,10.0.0.1,5123,10.0.0.2,443,tcp,10,20\n1.6,10.0.0.2,5124,10.0.0.9,53,udp,1,2\n",
            &[["10.0.0.1", "10.0.0.2"], ["10.0.0.2", "10.0.0.9"]],
        ),
        (
            "Reddit",
            "SOURCE_SUBREDDIT\tTARGET_SUBREDDIT\tPOST_ID\tTIMESTAMP\tLINK_SENTIMENT\n\
             leagueoflegends\tteamredditteams\t1u4nrps\t2013-12-31 16:39:58\t1\n",
            &[["leagueoflegends", "teamredditteams"]],
        ),
        (
            "Gephi",
            "Source,Target,Type,Id,Label,Weight\n1,2,Undirected,0,,1.0\n2,3,Undirected,1,,2.0\n",
            &[["1", "2"], ["2", "3"]],
        ),
        (
            "Neo4j",
            ":START_ID,:END_ID,:TYPE,amount\nann,bob,PAID,3\nbob,cyd,PAID,4\n",
            &[["ann", "bob"], ["bob", "cyd"]],
        ),
        (
            "Ethereum",
            "hash,nonce,block_number,from_address,to_address,value,gas\n\
             0xaa,1,46147,0xa1,0x5d,31337,21000\n",
            &[["0xa1", "0x5d"]],
        ),
        (
            "STRING",
            "protein1 protein2 combined_score\n9606.A 9606.B 490\n",
            &[["9606.A", "9606.B"]],
        ),
        (
            "validity",
            "employee,manager,from_date,to_date\nann,bob,2020-01-01,2021-01-01\nbob,cyd,2020-01-01,\n",
            &[["ann", "bob"], ["bob", "cyd"]],
        ),
    ] {
        let format = if text.contains('\t') { Format::Tsv } else { Format::Csv };
        assert_eq!(read(text, format).as_deref(), Ok(&owned(expected)[..]), "{name}");
    }
}

/// Files without a header, and how many rows and fields they have.
fn headerless() -> Vec<(&'static str, Format, &'static str, Vec<[String; 2]>)> {
    use Format::{Csv, EdgeList, Tsv};
    let numbers = || owned(&[["1", "2"], ["2", "3"]]);
    let words = || owned(&[["ann", "bob"], ["bob", "cyd"]]);
    vec![
        ("two integers", EdgeList, "1 2\n2 3\n", numbers()),
        ("tabs", EdgeList, "1\t2\n2\t3\n", numbers()),
        ("commas in a .txt", EdgeList, "1,2\n2,3\n", numbers()),
        ("semicolons in a .txt", EdgeList, "1;2\n2;3\n", numbers()),
        ("several blanks", EdgeList, "  1    2\n  2    3\n", numbers()),
        ("SNAP", EdgeList, "# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n1\t2\n2\t3\n", numbers()),
        ("KONECT", EdgeList, "% sym unweighted\n% 2 3 3\n1 2\n2 3\n", numbers()),
        (
            "KONECT with time",
            EdgeList,
            "% asym posweighted\n1 2 1 1082040961\n2 3 1 1082155839\n",
            numbers(),
        ),
        ("a weight", EdgeList, "1 2 0.5\n2 3 1e-3\n", numbers()),
        ("a signed weight", EdgeList, "1 2 -1\n2 3 +1\n", numbers()),
        ("a time", EdgeList, "1 2 1082040961\n2 3 1082155839\n", numbers()),
        ("a word behind", EdgeList, "1 2 friend\n2 3 enemy\n", numbers()),
        ("an attribute map", EdgeList, "1 2 {}\n2 3 {}\n", numbers()),
        ("four integers", EdgeList, "1 2 5 7\n2 3 5 7\n", numbers()),
        ("comma separated", Csv, "1,2\n2,3\n", numbers()),
        ("quoted integers", Csv, "\"1\",\"2\"\n\"2\",\"3\"\n", numbers()),
        ("semicolons", Csv, "1;2\n2;3\n", numbers()),
        ("blanks in a .csv", Csv, "1 2\n2 3\n", numbers()),
        ("a rating and a time", Csv, "1,2,10,1289241911\n2,3,-1,1289242911\n", numbers()),
        ("a rating and a fraction", Csv, "1,2,10,1289241911.72\n2,3,-1,1289242911.5\n", numbers()),
        ("tab separated", Tsv, "1\t2\n2\t3\n", numbers()),
        ("tabs and a date", Tsv, "1\t2\t2024-01-01\n2\t3\t2024-01-02\n", numbers()),
        ("carriage returns", Csv, "1,2\r\n2,3\r\n", numbers()),
        ("a byte order mark", Csv, "\u{feff}1,2\n2,3\n", numbers()),
        ("no line end", Csv, "1,2\n2,3", numbers()),
        ("blank lines first", Csv, "\n\n1,2\n2,3\n", numbers()),
        ("words", EdgeList, "ann bob\nbob cyd\n", words()),
        ("words by tabs", EdgeList, "ann\tbob\nbob\tcyd\n", words()),
        ("words in a .csv", Csv, "ann,bob\nbob,cyd\n", words()),
        ("words in a .tsv", Tsv, "ann\tbob\nbob\tcyd\n", words()),
        ("words and a weight", EdgeList, "ann bob 3\nbob cyd 4\n", words()),
        ("words and a weight in a .csv", Csv, "ann,bob,3\nbob,cyd,4\n", words()),
        ("words and a date", Csv, "ann,bob,2024-01-01\nbob,cyd,2024-01-02\n", words()),
        (
            "words with blanks",
            Csv,
            "Ann Lee,Bob Ray\nBob Ray,Cy\n",
            owned(&[["Ann Lee", "Bob Ray"], ["Bob Ray", "Cy"]]),
        ),
        (
            "letters and digits",
            EdgeList,
            "P31946 P62258\nP62258 Q04917\n",
            owned(&[["P31946", "P62258"], ["P62258", "Q04917"]]),
        ),
        (
            "addresses",
            EdgeList,
            "10.0.0.1 10.0.0.2\n10.0.0.2 10.0.0.3\n",
            owned(&[["10.0.0.1", "10.0.0.2"], ["10.0.0.2", "10.0.0.3"]]),
        ),
        ("hexadecimal", Csv, "0x1f,0x2e\n0x2e,0x9\n", owned(&[["0x1f", "0x2e"], ["0x2e", "0x9"]])),
        (
            "mail addresses",
            Csv,
            "ann@a.org,bob@b.org\nbob@b.org,cyd@c.org\n",
            owned(&[["ann@a.org", "bob@b.org"], ["bob@b.org", "cyd@c.org"]]),
        ),
        (
            "one is called id",
            Csv,
            "id,name\nname,age\nage,id\n",
            owned(&[["id", "name"], ["name", "age"], ["age", "id"]]),
        ),
        (
            "it comes again in the other column, later",
            Csv,
            "ann,bob\ncyd,dan\neve,fay\ngus,ann\n",
            owned(&[["ann", "bob"], ["cyd", "dan"], ["eve", "fay"], ["gus", "ann"]]),
        ),
    ]
}

#[test]
fn files_without_a_header_keep_their_first_row() {
    let all = headerless();
    assert!(all.len() >= 30);
    for (what, format, text, expected) in all {
        assert_eq!(read(text, format), Ok(expected), "{what}");
    }
}

#[test]
fn a_header_of_other_words_is_never_an_edge() {
    for header in
        ["Foo,Bar", "artist,song", "Kunde,Laden", "von,nach", "abc,xyz", "Leiter,Mitglied"]
    {
        let [a, b]: [&str; 2] = header.split(',').collect::<Vec<_>>().try_into().unwrap();
        for body in BODIES {
            let rows: String = body.iter().map(|[s, t]| format!("{s},{t}\n")).collect();
            match read(&format!("{header}\n{rows}"), Format::Csv) {
                Ok(found) => assert_eq!(found, owned(&body), "{header} above {body:?}"),
                Err(error) => {
                    for part in ["--header", "--no-header", a, b, body[0][0], body[0][1]] {
                        assert!(error.contains(part), "{error} has no {part}");
                    }
                }
            }
        }
        // Words above numbers cannot be an edge.
        let found = read(&format!("{header}\n1,2\n2,3\n"), Format::Csv);
        assert_eq!(found, Ok(owned(&[["1", "2"], ["2", "3"]])), "{header}");
    }
}

#[test]
fn what_may_be_either_is_refused_with_what_to_do() {
    for (what, text, parts) in [
        (
            "words without a sign of either",
            "abc,xyz\nann,bob\ncyd,dan\n",
            &["(bytes):1: ", "abc,xyz", "ann,bob", "--header", "--no-header"][..],
        ),
        (
            "four columns of words",
            "ann,bob,cyd,dan\nbob,cyd,dan,eve\n",
            &["ann,bob", "bob,cyd", "--columns "],
        ),
        (
            "a header that does not say",
            "day,shop,till,sum,kind\n2024-01-01,a,b,3,x\n2024-01-02,c,d,4,y\n",
            &["day,shop", "2024-01-01,a,b", "--columns "],
        ),
        (
            "attributes of vertices",
            "id,name,age\n1,ann,30\n2,bob,31\n",
            &["id,name,age", "1,ann,30", "--columns "],
        ),
        ("labels of vertices", "id,label\n1,ann\n2,bob\n", &["id,label", "--columns "]),
        ("communities", "id,community\n1,1\n2,1\n3,3\n", &["id,community", "--columns "]),
        ("names and ages", "name,age\nann,30\nbob,31\n", &["name,age", "--columns "]),
        ("mail", "user_id,username,email\n1,ann,a@b.c\n2,bob,b@b.c\n", &["user_id", "--columns "]),
        ("balances", "account_id,balance\n17,100.5\n18,3.25\n", &["account_id", "--columns "]),
        ("a number, then words", "1,ann,30,x\n2,bob,31,y\n", &["1,ann", "2,bob", "--columns "]),
        (
            "dates first, no header",
            "2024-01-01,ann,bob,3\n2024-01-02,bob,cyd,4\n",
            &["--columns 2,3"],
        ),
    ] {
        let error = read(text, Format::Csv).expect_err(what);
        assert!(error.lines().count() == 1 && error.len() < 600, "{error}");
        for part in parts {
            assert!(error.contains(part), "{what}: {error} has no {part}");
        }
    }
}

/// The command that a refusal offers reads the file.
#[test]
fn what_a_refusal_offers_works() {
    for text in [
        "2024-01-01,ann,bob,3\n2024-01-02,bob,cyd,4\n",
        "day,buys,sells,sum\n2024-01-01,ann,bob,3\n2024-01-02,bob,cyd,4\n",
    ] {
        let error = read(text, Format::Csv).unwrap_err();
        let offered = error.rsplit("--columns ").next().unwrap();
        let (source, target) = offered.trim_end_matches(['`', '.']).split_once(',').unwrap();
        let found = read_with(text, Format::Csv, &by_columns(source, target));
        assert_eq!(found, Ok(owned(&[["ann", "bob"], ["bob", "cyd"]])), "{error}");
    }
    let text = "abc,xyz\nann,bob\ncyd,dan\n";
    let rows = owned(&[["abc", "xyz"], ["ann", "bob"], ["cyd", "dan"]]);
    assert_eq!(read_with(text, Format::Csv, &with_header(Header::Present)), Ok(rows[1..].to_vec()));
    assert_eq!(read_with(text, Format::Csv, &with_header(Header::Absent)), Ok(rows));
}

#[test]
fn tables_of_neo4j_have_spaces_of_ids_and_no_rows_of_nodes() {
    let text = ":START_ID(P),since:int,:END_ID(P),:TYPE\n1,2001,2,K\n2,2002,3,K\n";
    assert_eq!(read(text, Format::Csv), Ok(owned(&[["1", "2"], ["2", "3"]])));
    let header = "_id,_labels,name,_start,_end,_type\n";
    let relationships = ",,,0,1,KNOWS\n,,,1,2,KNOWS\n";
    let both = format!("{header}0,:P,ann,,,\n1,:P,bob,,,\n{relationships}");
    let error = read(&both, Format::Csv).unwrap_err();
    assert!(error.contains("rows of nodes") && error.contains("apoc.export.csv.query"), "{error}");
    let alone = read(&format!("{header}{relationships}"), Format::Csv);
    assert_eq!(alone, Ok(owned(&[["0", "1"], ["1", "2"]])));
}

#[test]
fn ids_that_became_fractions_and_lists_of_neighbours_have_a_hint() {
    let error = read("source,target\n1.0,2.0\n2.0,3.0\n", Format::Csv).unwrap_err();
    assert!(
        error.contains("`1.0` is not a vertex id") && error.contains("astype(\"Int64\")"),
        "{error}"
    );
    let error = read("1 2\n2 3\n3\n", Format::EdgeList).unwrap_err();
    assert!(error.contains(":3: ") && error.contains("not lists of neighbours"), "{error}");
}

#[test]
fn three_columns_of_words_without_a_header_are_refused_with_both_readings() {
    for (text, format) in [
        ("Evelyn Jefferson E1\nEvelyn Jefferson E2\n", Format::EdgeList),
        ("(0, 0) (1, 0)\n(0, 0) (0, 1)\n", Format::EdgeList),
        ("ann knows bob\nbob knows cyd\n", Format::EdgeList),
        ("ann\tknows\tbob\nann\tlikes\tcyd\n", Format::Tsv),
        ("ann,knows,bob\nbob,knows,cyd\n", Format::Csv),
    ] {
        let rows: Vec<&str> = text.lines().collect();
        let error = read(text, format).unwrap_err();
        let first = rows[0].replace('\t', "\\t");
        for part in
            [&first, "--columns 1,2 --no-header", "--columns 1,3 --no-header", "--delimiter tab"]
        {
            assert!(error.contains(part), "{error} has no {part}");
        }
        assert_eq!(read_with(text, format, &with_header(Header::Absent)), Err(error), "{text:?}");
        for target in ["2", "3"] {
            let named = ReadOptions { header: Header::Absent, ..by_columns("1", target) };
            assert_eq!(read_with(text, format, &named).unwrap().len(), 2, "{text:?}");
        }
    }
    // A third column that is about the edge of two integers, or missing, or no word.
    for text in ["1 2 friend\n2 3 foe\n", "ann bob {}\nbob cyd {}\n", "ann bob NA\nbob cyd 2\n"] {
        assert_eq!(read(text, Format::EdgeList).unwrap().len(), 2, "{text:?}");
    }
    let attributes = [
        "ann bob {'weight': 4}\nann cyd {'weight': 5}\n",
        "ann bob {'weight': 4, 'x': 3}\nbob cyd {'weight': 5, 'x': 2}\n",
    ];
    for text in attributes {
        let error = read(text, Format::EdgeList).unwrap_err();
        assert!(error.contains("write_weighted_edgelist"), "{error}");
    }
    let weighted = ReadOptions { weighted: true, ..ReadOptions::default() };
    let error = read_with("1 2 {'weight': 4}\n", Format::EdgeList, &weighted).unwrap_err();
    assert!(error.contains("`{'weight':`, not weights: write the file with"), "{error}");
    let one = read("ann knows bob\n", Format::EdgeList).unwrap_err();
    assert!(one.contains("the first row is `ann knows bob`: "), "{one}");
}

#[test]
fn a_wide_table_without_a_header_is_refused_unless_columns_are_named() {
    let absent = with_header(Header::Absent);
    for (text, offer) in [
        ("2024-01-01,ann,bob,3\n2024-01-02,bob,cyd,4\n", "--columns 2,3 --no-header"),
        ("ann,bob,x,y\nbob,cyd,x,y\n", "--columns 1,2 --no-header"),
        ("a,1,2,3,b\nb,2,3,4,c\n", "--no-header"),
    ] {
        let error = read_with(text, Format::Csv, &absent).unwrap_err();
        assert!(error.contains(offer), "{text:?}: {error}");
        let named = ReadOptions { header: Header::Absent, ..by_columns("1", "2") };
        assert_eq!(read_with(text, Format::Csv, &named).unwrap().len(), 2, "{text:?}");
    }
    for (text, format) in [
        ("ann,bob\nbob,cyd\n", Format::Csv),
        ("ann,bob,1.5\nbob,cyd,2\n", Format::Csv),
        ("1,2,5,1083\n2,3,1,1084\n", Format::Csv),
        ("1 2 5 1083\n2 3 1 1084\n", Format::EdgeList),
    ] {
        assert_eq!(read_with(text, format, &absent).unwrap().len(), 2, "{text:?}");
    }
}

#[test]
fn columns_are_numbers_or_names() {
    let text = "day,amount,to,from\nmon,3,b,a\ntue,4,c,b\n";
    let edges = || Ok(owned(&[["a", "b"], ["b", "c"]]));
    for [source, target] in [["from", "to"], ["4", "3"], ["from", "3"], ["4", "to"]] {
        let found = read_with(text, Format::Csv, &by_columns(source, target));
        assert_eq!(found, edges(), "{source},{target}");
    }
    let bare = "mon,3,b,a\ntue,4,c,b\n";
    assert_eq!(read_with(bare, Format::Csv, &by_columns("4", "3")), edges());
    let blanks = "mon 3 b a\ntue 4 c b\n";
    assert_eq!(read_with(blanks, Format::EdgeList, &by_columns("4", "3")), edges());
    // A name that is a number is a name first.
    let years = "2,1,3\na,b,x\nb,c,y\n";
    let options = ReadOptions { header: Header::Present, ..by_columns("2", "1") };
    assert_eq!(read_with(years, Format::Csv, &options), edges());
    for (text, [source, target], part) in [
        (text, ["5", "1"], "5"),
        (text, ["0", "1"], "no column `0`"),
        (text, ["who", "to"], "no column `who`"),
        (text, ["from", "from"], "from"),
        (text, ["3", "to"], "to"),
        (bare, ["from", "to"], "header"),
    ] {
        let error = read_with(text, Format::Csv, &by_columns(source, target)).unwrap_err();
        assert!(error.contains(part), "{source},{target}: {error}");
    }
}

#[test]
fn options_overrule_what_rows_look_like() {
    let known = "source,target\nann,bob\n";
    let found = read_with(known, Format::Csv, &with_header(Header::Absent));
    assert_eq!(found, Ok(owned(&[["source", "target"], ["ann", "bob"]])));
    let numbers = "1,2\n3,4\n";
    let found = read_with(numbers, Format::Csv, &with_header(Header::Present));
    assert_eq!(found, Ok(owned(&[["3", "4"]])));
    let names = ReadOptions { ids: IdKind::Names, ..ReadOptions::default() };
    assert_eq!(read_with("1,2\n3,4\n", Format::Csv, &names), Ok(owned(&[["1", "2"], ["3", "4"]])));
    assert_eq!(read_with("from,to\n1,2\n", Format::Csv, &names), Ok(owned(&[["1", "2"]])));
}

#[test]
fn a_name_that_stands_twice_in_a_header_is_refused() {
    for (text, options) in [
        ("from,to,from\n1,2,3\n", ReadOptions::default()),
        (
            "Timestamp,From Bank,Account,To Bank,Account,Paid\nx,10,8A,20,8B,1\n",
            ReadOptions::default(),
        ),
        ("a,b,a\n1,2,3\n", by_columns("a", "b")),
    ] {
        let error = read_with(text, Format::Csv, &options).unwrap_err();
        assert!(error.contains("twice") && error.contains("--columns"), "{error}");
    }
    let by_number = "Timestamp,From Bank,Account,To Bank,Account,Paid\nx,10,8A,20,8B,1\n";
    let found = read_with(by_number, Format::Csv, &by_columns("3", "5"));
    assert_eq!(found, Ok(owned(&[["8A", "8B"]])));
}

#[test]
fn a_weight_is_a_column_by_name() {
    let weighted = ReadOptions { weighted: true, ..ReadOptions::default() };
    for (text, expected) in [
        ("from,to,weight\n1,2,0.5\n2,3,4\n", Some([0.5, 4.0])),
        ("from,to,Weight\n1,2,0.5\n2,3,4\n", Some([0.5, 4.0])),
        ("amount,from,day,to\n0.5,1,9,2\n4,2,9,3\n", Some([0.5, 4.0])),
        ("1,2,0.5\n2,3,4\n", Some([0.5, 4.0])),
        ("ann,bob,0.5\nbob,cyd,4\n", Some([0.5, 4.0])),
        ("from,to,eur\n1,2,0.5\n2,3,4\n", Some([0.5, 4.0])),
        ("day,from,to,eur\n1,1,2,0.5\n1,2,3,4\n", None),
        ("from,to,amount,value\n1,2,0.5,1\n2,3,4,1\n", None),
        ("from,to\n1,2\n2,3\n", None),
    ] {
        let read = parse_edges(text.as_bytes(), Format::Csv, &weighted);
        match expected {
            Some(weights) => assert_eq!(read.unwrap().weights(), Some(&weights[..]), "{text}"),
            None => {
                let error = read.unwrap_err().to_string();
                assert!(error.contains("weight"), "{text}: {error}");
            }
        }
    }
}

/// Returns the edges as `ann>bob`, or the refusal.
fn edges(text: &str, format: Format) -> Result<Vec<String>, String> {
    read(text, format).map(|rows| rows.iter().map(|[s, t]| format!("{s}>{t}")).collect())
}

#[test]
fn columns_without_names_are_ends_only_if_both_can_be_ids_of_one_kind() {
    for (text, columns) in [
        ("2024-01-01,ann,bob\n2024-01-02,bob,cyd\n", "2,3"),
        ("2024-01-01 10:35:00,ann,bob\n2024-01-02 10:36:00,bob,cyd\n", "2,3"),
        ("31 Jan 2024,ann,bob\n1 Feb 2024,bob,cyd\n", "2,3"),
        ("1700000000,ann,bob\n1700000001,bob,cyd\n", "2,3"),
        ("1700000000,1,2\n1700000001,2,3\n", "2,3"),
        ("1700000000,1,2,50\n1700000001,2,3,70\n", "2,3"),
        ("ann,100.5,bob\nbob,7,cyd\n", "1,3"),
        ("ann,$5,bob\nbob,$7,cyd\n", "1,3"),
        ("0.5,1,2\n0.25,2,3\n", "2,3"),
        ("ann,5\nbob,7\n", "1,2"),
        ("5,ann\n7,bob\n", "1,2"),
        ("2024-01-01,2024-01-02\n2024-01-02,2024-01-03\n", "1,2"),
    ] {
        let error = read(text, Format::Csv).expect_err(text);
        assert!(error.ends_with(&format!("such as --columns {columns}")), "{text}: {error}");
        let (source, target) = columns.split_once(',').unwrap();
        let found = read_with(text, Format::Csv, &by_columns(source, target));
        assert_eq!(found.map(|rows| rows.len()), Ok(2), "{text}");
    }
    for text in [
        "ann,bob,2024-01-01\nbob,cyd,2024-01-02\n",
        "10.1000/182,10.1000/183\n10.1000/183,10.1000/184\n",
        "555-1234,555-9999\n555-9999,555-0000\n",
        "ann,1\n1,ann\n",
        "00123,00999\n123,555\n",
        "1,2,1700000000\n2,3,1700000001\n",
        "1700000000,1700000001,5\n1700000001,1700000007,6\n",
    ] {
        assert_eq!(read(text, Format::Csv).map(|rows| rows.len()), Ok(2), "{text}");
    }
}

#[test]
fn a_mark_between_two_ids_is_no_id() {
    for (text, expected) in [
        ("1 -> 2\n2 -> 3\n", ["1>2", "2>3"]),
        ("ann -- bob\nbob -- cyd\n", ["ann>bob", "bob>cyd"]),
        ("ann <-> bob\nbob <-> cyd\n", ["ann>bob", "bob>cyd"]),
        ("ann => bob 5\nbob => cyd 7\n", ["ann>bob", "bob>cyd"]),
        ("1 : 2\n2 : 3\n", ["1>2", "2>3"]),
        ("ann \u{2192} bob\nbob \u{2192} cyd\n", ["ann>bob", "bob>cyd"]),
        ("2 <- 1\n3 <- 2\n", ["1>2", "2>3"]),
    ] {
        assert_eq!(
            edges(text, Format::EdgeList),
            Ok(expected.map(String::from).to_vec()),
            "{text}"
        );
    }
    // Elsewhere, or of other signs, it is a column like others.
    for (text, expected) in [
        ("1 2 # first\n2 3 # second\n", ["1>2", "2>3"]),
        ("1 2 + 1082040961\n2 3 + 1082040962\n", ["1>2", "2>3"]),
        ("1 2 5 : x\n2 3 7 : y\n", ["1>2", "2>3"]),
    ] {
        let found = edges(text, Format::EdgeList);
        assert_eq!(found, Ok(expected.map(String::from).to_vec()), "{text}");
    }
    for text in
        ["ann,bob,-,7\nbob,cid,-,8\n", "ann,-,5\nbob,-,6\n", "1,-,5\n2,-,6\n", "a,?,b\nb,?,c\n"]
    {
        let error = read(text, Format::Csv).unwrap_err();
        assert!(error.contains("--columns"), "{text}: {error}");
    }
    // Lists of neighbours, not an edge and its weight.
    assert!(read("1 : 2 3\n2 : 3\n3 : 1 2\n", Format::EdgeList).is_err());
    let mixed = read("ann -> bob\nbob -- cyd\n", Format::EdgeList).unwrap_err();
    assert!(
        mixed.contains("neither letters nor digits") && mixed.contains("--columns 1,3"),
        "{mixed}"
    );
    let later = format!("{}ann bob cyd\n", "ann -> bob\n".repeat(5000));
    let later = read(&later, Format::EdgeList).unwrap_err();
    assert!(later.contains(":5001: expected `->`"), "{later}");
    let weighted = ReadOptions { weighted: true, ..ReadOptions::default() };
    let table = parse_edges(b"1 -> 2 0.5\n2 -> 3 4\n", Format::EdgeList, &weighted).unwrap();
    assert_eq!(table.weights(), Some(&[0.5, 4.0][..]));
}

#[test]
fn ids_and_numbers_of_rows_are_no_weights() {
    let weighted = ReadOptions { weighted: true, ..ReadOptions::default() };
    for text in [
        "id,source,target\n7,1,2\n8,2,3\n",
        "edge_id,person_a,person_b\n7,1,2\n8,2,3\n",
        "Unnamed: 0,id1,id2\n0,10,20\n1,20,30\n",
        "from,to,id\n1,2,7\n2,3,8\n",
        "date,from,to\n20240101,1,2\n20240102,2,3\n",
    ] {
        let error = read_with(text, Format::Csv, &weighted).unwrap_err();
        assert!(
            error.contains("does not seem to be a weight") && error.contains("--columns"),
            "{error}"
        );
        assert!(read(text, Format::Csv).is_ok(), "{text}");
    }
    // Which of several it is, is not known.
    let options = ReadOptions { weighted: true, ..by_columns("1", "4") };
    let error = read_with("1 2 3 4\n2 5 6 1\n", Format::EdgeList, &options).unwrap_err();
    assert!(error.contains("--columns 1,4,2"), "{error}");
}

#[test]
fn numbers_of_rows_and_times_are_no_ends() {
    for text in [
        "Unnamed: 0,a,b\n0,10,20\n1,20,30\n2,30,10\n",
        "index,a,b\n0,10,20\n1,20,30\n2,30,10\n",
        "Nr;Von;An\n7;10;20\n8;20;30\n",
        "Betrag;Von;An\n1;10;20\n2;20;30\n3;30;10\n",
        "Tag;Von;An\n20240101;10;20\n20240102;20;30\n",
        "Betrag,Von,An\n250,10,20\n75,20,30\n990,30,10\n40,10,30\n",
        "betrag,wer,wem\n25,ann,bob\n7,bob,cyd\n9,cyd,ann\n",
        "1,10,20\n2,20,30\n3,30,10\n",
        "1217567877000,9,8\n1217567878000,8,7\n",
        "20080801,9,8\n20080802,8,7\n",
    ] {
        let error = read(text, Format::Csv).unwrap_err();
        assert!(error.contains("--columns "), "{text}: {error}");
    }
    // A path with weights; ids of two kinds; ids as long as dates; a number in a first row of two columns.
    for text in [
        "0,1,5\n1,2,5\n2,3,5\n",
        "1,501,5\n2,502,3\n3,503,5\n",
        "20240101,20240102,5\n20240102,20240103,7\n",
        "1,10\n2,20\n3,10\n",
        // Ratings of many items, of which the first are the ratings' numbers, too.
        "wer,was,wie\n901,1,5\n902,2,4\n903,3,3\n904,4,2\n905,5,1\n906,6,1\n907,7,1\n908,80,2\n909,81,3\n910,82,3\n911,83,1\n912,84,1\n913,85,2\n914,86,2\n915,87,1\n916,88,1\n917,89,1\n918,90,1\n919,91,1\n920,92,1\n921,93,1\n",
    ] {
        assert!(read(text, Format::Csv).is_ok(), "{text}");
    }
}

#[test]
fn lists_of_neighbours_are_no_edges() {
    for text in ["0 1 2 3\n1 2\n2 3\n3 0\n", "0 1 2\n1 2\n2 0\n", "1 2 3 4\n2 3 4\n3 4\n"] {
        for (text, format) in
            [(text.to_owned(), Format::EdgeList), (text.replace(' ', ","), Format::Csv)]
        {
            let error = read(&text, format).unwrap_err();
            assert!(error.contains("lists of neighbours") || error.contains("fields"), "{error}");
        }
    }
    // A weight may be missing.
    let found = edges("1 2 0\n1 3\n2 3 7\n", Format::EdgeList);
    assert_eq!(found.unwrap(), ["1>2", "1>3", "2>3"]);
}

#[test]
fn an_empty_field_between_tabs_is_no_end() {
    let error = read("1\t2\t7\n2\t\t5\n2\t3\t4\n", Format::EdgeList).unwrap_err();
    assert!(error.contains(":2: a vertex id is empty"), "{error}");
    let error = read("1\t2\t5\n\t3\t6\n3\t4\t7\n", Format::EdgeList).unwrap_err();
    assert!(error.contains(":2: a vertex id is empty"), "{error}");
    let weighted = ReadOptions { weighted: true, ..ReadOptions::default() };
    let text = "1\t2\t\t5\n2\t3\t4\t6\n";
    let error = read_with(text, Format::EdgeList, &weighted).unwrap_err();
    assert!(error.contains(":1: "), "{error}");
    assert_eq!(edges(text, Format::EdgeList).unwrap(), ["1>2", "2>3"]);
    // Tabs that line up the columns are one separator.
    assert_eq!(edges("1\t\t2\n20\t\t30\n", Format::EdgeList).unwrap(), ["1>2", "20>30"]);
}

#[test]
fn start_and_end_alone_may_be_times() {
    let error = read("start,end,who,whom\n7,8,ann,bob\n9,11,bob,cyd\n", Format::Csv).unwrap_err();
    assert!(error.contains("--columns who,whom"), "{error}");
    let error = read("start,end\n7,8\n9,11\n", Format::Csv).unwrap_err();
    assert!(error.contains("--columns start,end"), "{error}");
    let text = "caller,callee,start,end\nann,bob,7,8\nbob,cyd,9,11\n";
    assert_eq!(edges(text, Format::Csv).unwrap(), ["ann>bob", "bob>cyd"]);
}

#[test]
fn tables_of_attributes_are_refused_with_the_option_to_use() {
    for (header, rows) in [
        ("country,population", ["Chad,17", "Mali,22"]),
        ("employee,salary", ["ann,100", "bob,200"]),
        ("product,price", ["pen,1.50", "ink,3"]),
        ("word,count", ["the,70", "of,30"]),
        ("date,sales", ["2024-01-01,5", "2024-01-02,7"]),
        ("city,country,population", ["Gao,Mali,90", "Sarh,Chad,100"]),
        ("foo,bar", ["ann,1", "bob,2"]),
        ("player,score", ["1,10", "2,20"]),
    ] {
        let text = format!("{header}\n{}\n{}\n", rows[0], rows[1]);
        let error = read_with(&text, Format::Csv, &with_header(Header::Present)).expect_err(header);
        let names: Vec<&str> = header.split(',').take(2).collect();
        assert!(error.contains(&format!("--columns {},{}", names[0], names[1])), "{error}");
        let error = read(&text, Format::Csv).expect_err(header);
        assert!(error.contains("--columns ") || error.contains("--header"), "{error}");
    }
}

#[test]
fn pandas_counts_columns_without_names() {
    for text in [
        "0,1\nann,bob\nbob,cyd\n",
        ",0,1\n0,ann,bob\n1,bob,cyd\n",
        "0,1,2\nann,bob,0.5\nbob,cyd,4\n",
        ",0,1,2\n0,ann,bob,0.5\n1,bob,cyd,4\n",
    ] {
        assert_eq!(
            edges(text, Format::Csv),
            Ok(vec!["ann>bob".into(), "bob>cyd".into()]),
            "{text}"
        );
    }
    assert_eq!(edges(",0,1\n0,5,7\n1,7,9\n", Format::Csv).unwrap(), ["5>7", "7>9"]);
    for text in ["5,7\nann,bob\nbob,cyd\n", "1,2\nann,bob\n"] {
        let error = read(text, Format::Csv).unwrap_err();
        assert!(error.contains("--header or --no-header"), "{text}: {error}");
    }
}

#[test]
fn adjacency_matrices_are_no_edges() {
    let wide: String = (0..40)
        .map(|row| {
            (0..400).map(|column| if row == column { "0 " } else { "1 " }).collect::<String>()
                + "\n"
        })
        .collect();
    for text in [
        "0 1 1\n1 0 0\n1 0 0\n",
        "0 3 5\n3 0 2\n5 2 0\n",
        "0,1,0,0\n1,0,1,1\n0,1,0,0\n0,1,0,0\n",
        "a,b,c\n0,1,1\n1,0,0\n1,0,0\n",
        ",a,b,c\na,0,1,1\nb,1,0,0\nc,1,0,0\n",
        "a,0,2.5,1\nb,2.5,0,0\nc,1,0,0\n",
        "a b c\n1 0 1 1\n2 1 0 0\n3 1 0 0\n",
        &wide,
    ] {
        for format in [Format::EdgeList, Format::Csv] {
            let error = read(text, format).expect_err(text);
            assert!(error.contains("adjacency matrix"), "{text}: {error}");
            let absent = read_with(text, format, &with_header(Header::Absent)).unwrap_err();
            assert!(absent.contains("adjacency matrix"), "{text}: {absent}");
        }
    }
    for text in ["0 1\n1 0\n", "0 1 1\n1 2 1\n2 0 1\n", "0 1 1\n1 0 1\n"] {
        assert!(read(text, Format::EdgeList).is_ok(), "{text}");
    }
    let asked = read_with("0 1 1\n1 0 0\n1 0 0\n", Format::EdgeList, &by_columns("1", "2"));
    assert_eq!(asked.map(|rows| rows.len()), Ok(3));
}

#[test]
fn what_is_advised_is_exact_and_quoted() {
    for (text, advice) in [
        (
            "day,Bought At,Sold At,sum\nmon,ann,bob,3\ntue,bob,ann,4\n",
            "--columns 'Bought At,Sold At'",
        ),
        ("day,\"buys, at\",sells,sum\nmon,ann,bob,3\ntue,bob,ann,4\n", "--columns 2,3"),
        ("day,bob's,sells,sum\nmon,ann,bob,3\ntue,bob,ann,4\n", "--columns 2,3"),
        (
            "Timestamp,From Bank,Account,To Bank,Account,Paid\nx,10,8A,20,8B,1\ny,10,8B,20,8C,1\n",
            "--columns 3,5",
        ),
    ] {
        let error = read(text, Format::Csv).expect_err(text);
        assert!(error.contains(advice), "{error}");
    }
    let doubled =
        "Timestamp,From Bank,Account,To Bank,Account,Paid\nx,10,8A,20,8B,1\ny,10,8B,20,8C,1\n";
    assert!(read(doubled, Format::Csv).unwrap_err().contains("--columns 3,5"));
    let quoted = "day,buys,sells,sum\n\"mon\",\"a,n\",bob,3\n";
    let error = read(quoted, Format::Csv).unwrap_err();
    assert!(error.contains("`\"mon\",\"a,n\",bob,3`"), "{error}");
    let tabs = "day\tbuys\tsells\tsum\nmon\tann\tbob\t3\n";
    let error = read(tabs, Format::Tsv).unwrap_err();
    assert!(error.contains("`day\\tbuys\\tsells\\tsum`"), "{error}");
}

#[test]
fn names_count_in_any_case() {
    let gephi = "Source,Target,Source Label,Target Label\n1,2,ann,bob\n2,3,bob,cyd\n";
    assert_eq!(edges(gephi, Format::Csv).unwrap(), ["1>2", "2>3"]);
    let found =
        read_with("x,sender,receiver\n7,ann,bob\n", Format::Csv, &by_columns("Sender", "RECEIVER"));
    assert_eq!(found, Ok(owned(&[["ann", "bob"]])));
    let twice = "Sender,SENDER,to\nann,bob,cyd\n";
    let found = read_with(twice, Format::Csv, &by_columns("sender", "to"));
    assert!(found.unwrap_err().contains("no column `sender`"));
    let found = read_with(twice, Format::Csv, &by_columns("Sender", "to"));
    assert_eq!(found, Ok(owned(&[["ann", "cyd"]])));
}

#[test]
fn a_time_or_a_place_is_no_weight_unless_it_is_asked_for() {
    let weighted = ReadOptions { weighted: true, ..ReadOptions::default() };
    for name in ["timestamp", "Year", "season", "event_time"] {
        let text = format!("from,to,{name}\n1,2,2020\n2,3,2021\n");
        let error = parse_edges(text.as_bytes(), Format::Csv, &weighted).unwrap_err().to_string();
        assert!(error.contains(&format!("--columns from,to,{name}")), "{error}");
        let columns = Columns {
            source: "from".into(),
            target: "to".into(),
            weight: name.into(),
            ..Columns::default()
        };
        let asked = ReadOptions { columns, ..weighted.clone() };
        let table = parse_edges(text.as_bytes(), Format::Csv, &asked).unwrap();
        assert_eq!(table.weights(), Some(&[2020.0, 2021.0][..]), "{name}");
    }
    let miles = parse_edges(b"from,to,miles\n1,2,20\n", Format::Csv, &weighted).unwrap();
    assert_eq!(miles.weights(), Some(&[20.0][..]));
}

#[test]
fn a_table_of_users_and_groups_is_refused_alike_whatever_its_ids() {
    let said = |rows: &str| {
        let error = read(&format!("user,group\n{rows}"), Format::Csv).unwrap_err();
        error.split(';').next().unwrap().to_owned()
    };
    let first = said("1,2\n2,3\n");
    for rows in
        ["1,9\n2,8\n", "ann,admins\nbob,users\n", "U12,G55\nU13,G56\nU14,G57\n", "ann,5\nbob,7\n"]
    {
        assert_eq!(said(rows), first, "{rows}");
    }
}
