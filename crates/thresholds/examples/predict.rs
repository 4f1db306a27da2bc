//! Prints what every model says of given thresholds, for `benches/which_model`. Reads lines of a
//! workload, a load and thresholds in bytes. Prints one JSON object a line, with null where a model
//! has no steady state.

use std::collections::BTreeMap;
use std::error::Error;
use std::io;

use flowsched_thresholds::{Forecast, MODELS, Objective, Solution};
use flowsched_units::Bytes;
use flowsched_workload::sizes::by_name;

fn main() -> Result<(), Box<dyn Error>> {
    for line in io::stdin().lines() {
        let line = line?;
        let mut words = line.split_whitespace();
        let (Some(workload), Some(load)) = (words.next(), words.next()) else { continue };
        let (sizes, load) = (by_name(workload)?, load.parse()?);
        let thresholds = words.map(|word| Ok(Bytes::new(word.parse()?)));
        let thresholds = thresholds.collect::<Result<Vec<Bytes>, Box<dyn Error>>>()?;
        let forecast = Forecast::new(&sizes, load);
        let mut said = BTreeMap::new();
        for model in MODELS {
            let mut values = BTreeMap::new();
            for objective in [Objective::MeanFct, Objective::MeanSlowdown] {
                let value = Solution::evaluate(&forecast, *model, &objective, &thresholds);
                let value = value.map(|solution| solution.objective_value).ok();
                values.insert(objective.to_string(), value);
            }
            said.insert(model.as_str(), values);
        }
        println!("{}", serde_json::to_string(&said)?);
    }
    Ok(())
}
