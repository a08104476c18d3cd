//! Tables of this field as they are published, from `schema infer` to a report without a line edited.
//!
//! Each is made to its published layout: names, order, codes, marks and separators of the columns
//! that it has (HMDA's loan register: those that its documentation calls derived, and what they come
//! from). Where a decision is the user's, the draft names what to type.

mod cells;

use cells::Cells::{Count, Decimal, Marked, Name, Steps, Words};
use cells::{Column, table};

use crate::probity_command::Workspace;

/// A table, and what its user types.
struct Published {
    name: &'static str,
    columns: &'static [Column],
    /// The label's place among the columns, its name, and its cell for an outcome from 0 to 1.
    label: (usize, &'static str, fn(f64) -> String),
    separator: &'static str,
    /// What is typed at once: options that say which column is which.
    options: &'static str,
    /// What the draft asks for, each in the words of the command line.
    asked: &'static [&'static str],
}

const HEADERLESS: &str = "--columns";

const RACES: &[&str] = &[
    "White",
    "Black or African American",
    "Race Not Available",
    "Asian",
    "Joint",
    "American Indian or Alaska Native",
    "2 or more minority races",
    "Native Hawaiian or Other Pacific Islander",
    "Free Form Text Only",
];
const AGES: &[&str] = &[
    "35-44", "25-34", "45-54", "55-64", "65-74", "<25", ">74", "8888",
];
const YES_NO: &[&str] = &["yes", "no"];
const NO_YES: &[&str] = &["no", "yes"];

/// The loan application register of the Home Mortgage Disclosure Act, 2018 and later.
const HMDA: Published = Published {
    name: "hmda",
    columns: &[
        ("activity_year", Words(&["2022"])),
        (
            "lei",
            Words(&[
                "B4TYDEB6GKMZO031MB27",
                "549300FGXN1K3HLB1R50",
                "KB1H1DSPRFMYMCUFXT09",
            ]),
        ),
        (
            "derived_msa-md",
            Words(&["31080", "35614", "16974", "99999"]),
        ),
        (
            "state_code",
            Marked(&Words(&["CA", "NY", "IL", "IN"]), 50, &["NA"]),
        ),
        (
            "county_code",
            Marked(&Words(&["06037", "36061", "17031", "18089"]), 50, &["NA"]),
        ),
        (
            "census_tract",
            Marked(&Steps(6_037_101_110, 6_037_980_033, 10_001), 50, &["NA"]),
        ),
        ("conforming_loan_limit", Words(&["C", "NC", "U", "NA"])),
        (
            "derived_loan_product_type",
            Words(&[
                "Conventional:First Lien",
                "FHA:First Lien",
                "VA:First Lien",
                "Conventional:Subordinate Lien",
            ]),
        ),
        (
            "derived_dwelling_category",
            Words(&[
                "Single Family (1-4 Units):Site-Built",
                "Single Family (1-4 Units):Manufactured",
            ]),
        ),
        (
            "derived_ethnicity",
            Words(&[
                "Not Hispanic or Latino",
                "Hispanic or Latino",
                "Ethnicity Not Available",
                "Joint",
            ]),
        ),
        ("derived_race", Words(RACES)),
        (
            "derived_sex",
            Words(&["Male", "Joint", "Female", "Sex Not Available"]),
        ),
        ("loan_type", Words(&["1", "2", "3", "4"])),
        ("loan_purpose", Words(&["1", "31", "32", "2", "4"])),
        ("lien_status", Words(&["1", "2"])),
        ("reverse_mortgage", Words(&["2", "1", "1111"])),
        ("loan_amount", Steps(5_000, 1_505_000, 10_000)),
        (
            "combined_loan_to_value_ratio",
            Marked(&Decimal(20.0, 105.0, 3), 6, &["NA", "Exempt"]),
        ),
        (
            "interest_rate",
            Marked(&Decimal(2.0, 8.0, 3), 5, &["NA", "Exempt"]),
        ),
        (
            "rate_spread",
            Marked(&Decimal(-1.0, 3.0, 3), 5, &["NA", "Exempt"]),
        ),
        (
            "loan_term",
            Marked(&Words(&["360", "180", "240", "120"]), 30, &["NA", "Exempt"]),
        ),
        (
            "property_value",
            Marked(&Steps(55_000, 2_005_000, 10_000), 12, &["NA", "Exempt"]),
        ),
        ("income", Marked(&Steps(11, 420, 1), 9, &["NA"])),
        (
            "debt_to_income_ratio",
            Words(&[
                "30%-<36%", "20%-<30%", "36", "41", "44", "<20%", "49", "38", "50%-60%", "NA",
                ">60%", "Exempt",
            ]),
        ),
        (
            "applicant_credit_score_type",
            Words(&["1", "2", "3", "9", "1111"]),
        ),
        ("applicant_age", Words(AGES)),
        (
            "co-applicant_age",
            Words(&[
                "9999", "35-44", "25-34", "45-54", "8888", "55-64", "65-74", "<25", ">74",
            ]),
        ),
        ("applicant_age_above_62", Words(&["No", "Yes", "NA"])),
        ("tract_population", Steps(1_200, 9_800, 7)),
        ("tract_minority_population_percent", Decimal(1.0, 99.0, 2)),
    ],
    label: (12, "action_taken", |high| {
        if high > 0.5 { "1" } else { "3" }.to_owned()
    }),
    separator: ",",
    options: "--label-column action_taken --protected derived_race,derived_sex --favourable 1",
    asked: &[],
};

/// Statlog (German credit), as it is published: blanks, no header, codes.
const GERMAN: Published = Published {
    name: "german",
    columns: &[
        ("status", Words(&["A14", "A11", "A12", "A13"])),
        ("duration", Steps(4, 72, 1)),
        ("history", Words(&["A32", "A34", "A33", "A31", "A30"])),
        (
            "purpose",
            Words(&[
                "A43", "A40", "A42", "A41", "A49", "A46", "A45", "A44", "A410", "A48",
            ]),
        ),
        ("amount", Steps(250, 18_424, 13)),
        ("savings", Words(&["A61", "A65", "A62", "A63", "A64"])),
        ("employment", Words(&["A73", "A75", "A74", "A72", "A71"])),
        ("rate", Steps(1, 4, 1)),
        ("sex_and_status", Words(&["A93", "A92", "A94", "A91"])),
        ("debtors", Words(&["A101", "A103", "A102"])),
        ("residence", Steps(1, 4, 1)),
        ("property", Words(&["A123", "A121", "A122", "A124"])),
        ("age", Steps(19, 75, 1)),
        ("plans", Words(&["A143", "A141", "A142"])),
        ("housing", Words(&["A152", "A151", "A153"])),
        ("credits", Steps(1, 4, 1)),
        ("job", Words(&["A173", "A172", "A174", "A171"])),
        ("dependants", Steps(1, 2, 1)),
        ("telephone", Words(&["A191", "A192"])),
        ("foreign", Words(&["A201", "A202"])),
    ],
    label: (20, "credit_risk", |high| {
        if high > 0.4 { "1" } else { "2" }.to_owned()
    }),
    separator: " ",
    options: "--separator space --columns status,duration,history,purpose,amount,savings,employment,rate,sex_and_status,debtors,residence,property,age,plans,housing,credits,job,dependants,telephone,foreign,credit_risk --label-column credit_risk --protected sex_and_status",
    asked: &["--favourable 1"],
};

/// Default of credit card clients, Taiwan.
const TAIWAN: Published = Published {
    name: "taiwan",
    columns: &[
        ("ID", Count(1)),
        ("LIMIT_BAL", Steps(10_000, 1_000_000, 10_000)),
        ("SEX", Words(&["2", "1"])),
        ("EDUCATION", Words(&["2", "1", "3", "5", "4", "6", "0"])),
        ("MARRIAGE", Words(&["2", "1", "3", "0"])),
        ("AGE", Steps(21, 79, 1)),
        ("PAY_0", Steps(-2, 8, 1)),
        ("PAY_2", Steps(-2, 8, 1)),
        ("BILL_AMT1", Steps(-165_580, 964_511, 97)),
        ("BILL_AMT2", Steps(-69_777, 983_931, 97)),
        ("PAY_AMT1", Steps(0, 873_552, 101)),
        ("PAY_AMT2", Steps(0, 1_684_259, 101)),
    ],
    label: (12, "default payment next month", |high| {
        if high > 0.7 { "1" } else { "0" }.to_owned()
    }),
    separator: ",",
    options: "--label-column|default payment next month|--protected|SEX,AGE",
    asked: &["--favourable 0"],
};

/// A task of the American Community Survey, as folktables writes it.
const ACS: Published = Published {
    name: "acs",
    columns: &[
        ("AGEP", Decimal(17.0, 95.0, 0)),
        (
            "COW",
            Words(&["1.0", "6.0", "3.0", "4.0", "2.0", "5.0", "7.0", "8.0"]),
        ),
        (
            "SCHL",
            Words(&[
                "16.0", "21.0", "19.0", "22.0", "20.0", "17.0", "18.0", "24.0", "23.0", "12.0",
            ]),
        ),
        ("MAR", Words(&["1.0", "5.0", "3.0", "2.0", "4.0"])),
        (
            "OCCP",
            Words(&[
                "4720.0", "2310.0", "440.0", "4760.0", "5740.0", "3255.0", "9130.0",
            ]),
        ),
        (
            "POBP",
            Words(&["6.0", "303.0", "36.0", "17.0", "233.0", "247.0"]),
        ),
        (
            "RELP",
            Words(&["0.0", "1.0", "2.0", "15.0", "17.0", "12.0"]),
        ),
        ("WKHP", Decimal(1.0, 99.0, 0)),
        ("SEX", Words(&["1.0", "2.0"])),
        (
            "RAC1P",
            Words(&["1.0", "6.0", "8.0", "2.0", "9.0", "3.0", "5.0", "7.0"]),
        ),
    ],
    label: (10, "PINCP", |high| {
        if high > 0.5 { "True" } else { "False" }.to_owned()
    }),
    separator: ",",
    options: "--label-column PINCP --protected SEX,RAC1P",
    asked: &[],
};

/// ProPublica's table of two years, with the columns that it has twice.
const COMPAS: Published = Published {
    name: "compas",
    columns: &[
        ("id", Count(1)),
        ("name", Name("person")),
        ("first", Name("first")),
        ("last", Name("last")),
        (
            "compas_screening_date",
            Words(&["2013-08-14", "2013-01-27", "2014-03-02", "2013-10-11"]),
        ),
        ("sex", Words(&["Male", "Female"])),
        (
            "dob",
            Words(&["1947-04-18", "1982-01-22", "1991-05-14", "1988-03-23"]),
        ),
        ("age", Steps(18, 96, 1)),
        (
            "age_cat",
            Words(&["25 - 45", "Greater than 45", "Less than 25"]),
        ),
        (
            "race",
            Words(&[
                "African-American",
                "Caucasian",
                "Hispanic",
                "Other",
                "Asian",
                "Native American",
            ]),
        ),
        ("juv_fel_count", Steps(0, 5, 1)),
        ("decile_score", Steps(1, 10, 1)),
        ("priors_count", Steps(0, 38, 1)),
        (
            "days_b_screening_arrest",
            Marked(&Steps(-30, 30, 1), 20, &[""]),
        ),
        (
            "c_jail_in",
            Marked(
                &Words(&["2013-08-13 06:03:42", "2013-01-26 03:45:27"]),
                20,
                &[""],
            ),
        ),
        ("c_case_number", Name("13")),
        ("c_charge_degree", Words(&["F", "M"])),
        (
            "c_charge_desc",
            Marked(
                &Words(&[
                    "Battery",
                    "arrest case no charge",
                    "Grand Theft (Motor Vehicle)",
                ]),
                90,
                &[""],
            ),
        ),
        ("is_recid", Words(&["0", "1"])),
        (
            "r_charge_degree",
            Marked(&Words(&["(M1)", "(M2)", "(F3)"]), 2, &[""]),
        ),
        (
            "vr_charge_degree",
            Marked(&Words(&["(F3)", "(M1)"]), 2, &[""]),
        ),
        ("decile_score", Steps(1, 10, 1)),
        ("score_text", Words(&["Low", "Medium", "High"])),
        ("priors_count", Steps(0, 38, 1)),
    ],
    label: (24, "two_year_recid", |high| {
        if high > 0.5 { "1" } else { "0" }.to_owned()
    }),
    separator: ",",
    options: "--label-column two_year_recid --protected sex,race",
    asked: &["--favourable 0"],
};

/// The bar passage study of the Law School Admission Council.
const LAW: Published = Published {
    name: "law",
    columns: &[
        ("decile1b", Decimal(1.0, 10.0, 1)),
        ("decile3", Decimal(1.0, 10.0, 1)),
        ("lsat", Decimal(11.0, 48.0, 1)),
        ("ugpa", Decimal(1.5, 4.0, 1)),
        ("zfygpa", Decimal(-3.3, 3.3, 2)),
        ("zgpa", Decimal(-6.4, 4.0, 2)),
        ("fulltime", Words(&["1.0", "2.0"])),
        ("fam_inc", Words(&["4.0", "3.0", "5.0", "2.0", "1.0"])),
        ("male", Words(&["1.0", "0.0"])),
        (
            "racetxt",
            Words(&["White", "Black", "Hispanic", "Asian", "Other"]),
        ),
        ("tier", Words(&["3.0", "4.0", "5.0", "2.0", "1.0", "6.0"])),
    ],
    label: (11, "pass_bar", |high| {
        if high > 0.3 { "1.0" } else { "0.0" }.to_owned()
    }),
    separator: ",",
    options: "--label-column pass_bar --protected male,racetxt",
    asked: &[],
};

/// Student performance (Portugal): semicolons; the label is made of the final grade.
const STUDENTS: Published = Published {
    name: "students",
    columns: &[
        ("school", Words(&["\"GP\"", "\"MS\""])),
        ("sex", Words(&["\"F\"", "\"M\""])),
        ("age", Steps(15, 22, 1)),
        ("address", Words(&["\"U\"", "\"R\""])),
        ("famsize", Words(&["\"GT3\"", "\"LE3\""])),
        ("Pstatus", Words(&["\"T\"", "\"A\""])),
        ("Medu", Steps(0, 4, 1)),
        (
            "Mjob",
            Words(&[
                "\"other\"",
                "\"services\"",
                "\"at_home\"",
                "\"teacher\"",
                "\"health\"",
            ]),
        ),
        (
            "reason",
            Words(&["\"course\"", "\"home\"", "\"reputation\"", "\"other\""]),
        ),
        ("failures", Steps(0, 3, 1)),
        ("schoolsup", Words(NO_YES)),
        ("higher", Words(YES_NO)),
        ("absences", Steps(0, 93, 1)),
        ("G1", Steps(3, 19, 1)),
        ("G2", Steps(0, 19, 1)),
    ],
    label: (15, "passed", |high| {
        if high > 0.4 { "yes" } else { "no" }.to_owned()
    }),
    separator: ";",
    options: "--label-column passed --protected sex,age",
    asked: &[],
};

/// Communities and crime, with its names of places, codes and '?', and its shares as a label.
const COMMUNITIES: Published = Published {
    name: "communities",
    columns: &[
        ("state", Steps(1, 56, 1)),
        ("county", Marked(&Steps(1, 197, 2), 2, &["?"])),
        ("community", Marked(&Steps(70, 94_597, 103), 2, &["?"])),
        ("communityname", Name("Newtown city")),
        ("fold", Steps(1, 10, 1)),
        ("population", Decimal(0.0, 1.0, 2)),
        ("householdsize", Decimal(0.0, 1.0, 2)),
        ("racepctblack", Decimal(0.0, 1.0, 2)),
        ("racePctWhite", Decimal(0.0, 1.0, 2)),
        ("medIncome", Decimal(0.0, 1.0, 2)),
        ("OtherPerCap", Marked(&Decimal(0.0, 1.0, 2), 500, &["?"])),
        ("LemasSwornFT", Marked(&Decimal(0.0, 1.0, 2), 2, &["?"])),
        ("PolicBudgPerPop", Marked(&Decimal(0.0, 1.0, 2), 2, &["?"])),
    ],
    label: (13, "ViolentCrimesPerPop", |high| format!("{high:.2}")),
    separator: ",",
    options: "--label-column ViolentCrimesPerPop --protected racepctblack",
    asked: &["--label-threshold 0.5"],
};

/// The Dutch census of 2001.
const DUTCH: Published = Published {
    name: "dutch",
    columns: &[
        ("sex", Words(&["1", "2"])),
        (
            "age",
            Words(&[
                "8", "9", "7", "10", "11", "6", "12", "5", "13", "4", "14", "15",
            ]),
        ),
        (
            "household_position",
            Words(&[
                "1122", "1121", "1110", "1210", "1131", "1132", "1140", "1220",
            ]),
        ),
        (
            "household_size",
            Words(&["112", "114", "111", "113", "125", "126"]),
        ),
        ("prev_residence_place", Words(&["1", "2", "9"])),
        ("citizenship", Words(&["1", "2", "3"])),
        ("country_birth", Words(&["1", "3", "2"])),
        ("edu_level", Words(&["3", "2", "5", "4", "1", "0"])),
        ("economic_status", Words(&["111", "112", "120"])),
        (
            "cur_eco_activity",
            Words(&[
                "138", "131", "135", "122", "137", "136", "133", "134", "132", "111", "139", "124",
            ]),
        ),
        ("marital_status", Words(&["2", "1", "4", "3"])),
    ],
    label: (11, "occupation", |high| {
        if high > 0.5 { "2_1" } else { "5_4_9" }.to_owned()
    }),
    separator: ",",
    options: "--label-column occupation --protected sex --favourable 2_1",
    asked: &[],
};

/// Students of the Open University (OULAD), with its '?' and a band of 10-20 beside 0-10%.
const OULAD: Published = Published {
    name: "oulad",
    columns: &[
        (
            "code_module",
            Words(&["BBB", "FFF", "DDD", "CCC", "EEE", "GGG", "AAA"]),
        ),
        (
            "code_presentation",
            Words(&["2014J", "2013J", "2014B", "2013B"]),
        ),
        ("id_student", Count(11_391)),
        ("gender", Words(&["M", "F"])),
        (
            "region",
            Words(&[
                "Scotland",
                "East Anglian Region",
                "London Region",
                "South Region",
                "Wales",
                "Ireland",
            ]),
        ),
        (
            "highest_education",
            Words(&[
                "A Level or Equivalent",
                "Lower Than A Level",
                "HE Qualification",
                "No Formal quals",
                "Post Graduate Qualification",
            ]),
        ),
        (
            "imd_band",
            Marked(
                &Words(&[
                    "20-30%", "30-40%", "10-20", "0-10%", "40-50%", "50-60%", "60-70%", "70-80%",
                    "80-90%", "90-100%",
                ]),
                30,
                &["?"],
            ),
        ),
        ("age_band", Words(&["0-35", "35-55", "55<="])),
        ("num_of_prev_attempts", Steps(0, 6, 1)),
        ("studied_credits", Steps(30, 655, 5)),
        ("disability", Words(&["N", "Y"])),
    ],
    label: (11, "final_result", |high| {
        ["Withdrawn", "Fail", "Pass", "Distinction"][(high * 3.99) as usize].to_owned()
    }),
    separator: ",",
    options: "--label-column final_result --protected gender,disability --favourable Distinction",
    asked: &[],
};

/// The arguments of `text`: between bars where one is there, else between blanks.
fn words(text: &str) -> Vec<&str> {
    match text.contains('|') {
        true => text.split('|').collect(),
        false => text.split_whitespace().collect(),
    }
}

fn goes_all_the_way(published: &Published) {
    let Published {
        name,
        columns,
        label,
        separator,
        options,
        asked,
    } = published;
    let workspace = Workspace::new();
    let file = format!("{name}.csv");
    let has_header = !options.contains(HEADERLESS);
    workspace.write(&file, table(columns, *label, (*separator, has_header), 400));

    let mut infer = vec!["schema", "infer", &file, "--force", "--out", "schema.toml"];
    infer.extend(words(options));
    for &asks in *asked {
        // The decision is the user's: the draft says what to type, and waits for it where it must.
        let said = workspace.run(&infer);
        let text = format!("{}{}", said.stdout, said.stderr);
        assert!(text.contains(asks), "no '{asks}' in {said:#?}");
        infer.extend(asks.split(' '));
    }
    workspace.run(&infer).exits(0);
    for line in [
        format!("schema check {file} --schema schema.toml"),
        format!("train --data {file} --schema schema.toml --hidden 4 --epochs 3 --out model"),
        format!(
            "audit --model model --data {file} --seeds 10 --local 5 --estimate 200 --out audit"
        ),
        format!("groups --model model --data {file} --out groups"),
        "report audit --out audit.html".to_owned(),
        "report groups --out groups.html".to_owned(),
    ] {
        workspace.line(&line).exits(0);
    }
}

#[test]
fn tables_as_they_are_published_go_all_the_way() {
    for published in [
        HMDA,
        GERMAN,
        TAIWAN,
        ACS,
        COMPAS,
        LAW,
        STUDENTS,
        COMMUNITIES,
        DUTCH,
        OULAD,
    ] {
        goes_all_the_way(&published);
    }
}
