//! The page: tables of how much longer FCTs are than with the oracle's thresholds.

use flowsched_experiment::results::Change;

use crate::days::{DAYS, Hour, PARTS};
use crate::simulate::{FLOWS, Fcts, HOSTS, SEEDS};
use crate::traffic::LINK;

/// Prints how the figures were obtained.
pub fn print_settings() {
    println!(
        "`make drift` writes these figures, here with version {}. A star of {HOSTS} hosts at {LINK}, PIAS \
         with its other\ndefaults, {FLOWS} flows an hour, {SEEDS} seeds, the same flows for all thresholds. \
         Figures say how much longer the mean FCT\nis than with the oracle's thresholds, with a 95% interval \
         over the seeds (Student's t over the logs of the ratios). Small\nflows have up to 100 KB.",
        env!("CARGO_PKG_VERSION")
    );
}

/// Prints the tables for this many queues.
pub fn print(queues: usize, hours: &[Hour]) {
    println!("\n### {queues} queues\n");
    println!("| part of the day | frozen | controller, day 1 | controller, day 2 |");
    println!("|---|---|---|---|");
    let figures: [(&str, Figure); 2] =
        [("", |fcts| &fcts.all), (", small flows", |fcts| &fcts.small)];
    for (label, figure) in figures {
        for part in PARTS.into_iter().map(Some).chain([None]) {
            let of = |day: usize| {
                let of_part = move |hour: &&Hour| part.is_none_or(|part| part == hour.part);
                hours.iter().filter(move |hour| hour.day == day).filter(of_part)
            };
            let frozen = change(of(0).map(|hour| (&hour.frozen, &hour.oracle)), figure);
            let by_day = (0..DAYS)
                .map(|day| change(of(day).map(|hour| (&hour.controller, &hour.oracle)), figure));
            let cells: Vec<String> = [frozen].into_iter().chain(by_day).collect();
            println!("| {}{label} | {} |", part.unwrap_or("whole day"), cells.join(" | "));
        }
    }
    let changes = |day| hours.iter().filter(|hour| hour.day == day && hour.has_changed).count();
    println!(
        "\nThe controller changes thresholds {} on the first day and {} on the second.\n",
        times(changes(0)),
        times(changes(1))
    );
    println!("| day, hours | traffic | oracle | frozen | model | controller | model |");
    println!("|---|---|---|---|---|---|---|");
    let rows: Vec<String> = hours.iter().map(row).collect();
    let mut first = 0;
    while first < rows.len() {
        let count = rows[first..].iter().take_while(|row| **row == rows[first]).count();
        let in_day = |number: usize| number % (rows.len() / DAYS);
        let range = match count {
            1 => in_day(first).to_string(),
            _ => format!("{} to {}", in_day(first), in_day(first + count - 1)),
        };
        println!("| {}, {range} | {}", hours[first].day + 1, rows[first]);
        first += count;
    }
}

fn times(count: usize) -> String {
    match count {
        0 => "never".into(),
        1 => "once".into(),
        _ => format!("{count} times"),
    }
}

fn row(hour: &Hour) -> String {
    let all: Figure = |fcts| &fcts.all;
    let percent = |times: f64| format!("{:+.1}%", 100.0 * (times - 1.0));
    format!(
        "{}, {:.0}% data mining, load {} | {:.0} us | {} | {} | {} | {} |",
        hour.part,
        100.0 * hour.traffic.mining,
        hour.traffic.load,
        hour.oracle.all.iter().sum::<f64>() / hour.oracle.all.len() as f64,
        change([(&hour.frozen, &hour.oracle)], all),
        percent(hour.frozen_expected),
        change([(&hour.controller, &hour.oracle)], all),
        percent(hour.controller_expected),
    )
}

type Figure = fn(&Fcts) -> &Vec<f64>;

/// How much longer FCTs are over these hours, with its interval.
fn change<'a>(hours: impl IntoIterator<Item = (&'a Fcts, &'a Fcts)>, figure: Figure) -> String {
    let hours: Vec<(&Fcts, &Fcts)> = hours.into_iter().collect();
    let log = |seed: usize| {
        let of_hour = |(one, oracle): &(&Fcts, &Fcts)| {
            (figure(one)[seed] / figure(oracle)[seed]).ln() / hours.len() as f64
        };
        hours.iter().map(of_hour).sum::<f64>()
    };
    let logs: Vec<f64> = (0..SEEDS as usize).map(log).collect();
    if logs.iter().all(|log| *log == 0.0) {
        return "the same".into();
    }
    let percent = |part: Option<f64>| format!("{:+.1}%", 100.0 * part.unwrap_or(f64::NAN));
    let Change { change, low, high } = Change::over_seeds(&logs);
    format!("{} [{}, {}]", percent(change), percent(low), percent(high))
}
