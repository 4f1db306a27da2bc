use flowsched_schemes::{Part, Role};

const MINE: Part = Part { role: Role::Port, name: "mine", about: "", parameters: &[] };

fn main() {
    println!("{}", MINE.name);
}
