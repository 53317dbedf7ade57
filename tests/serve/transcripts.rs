//! The transcripts through the official driver: a session on `tally serve` prints what one on the embedded engine prints.

use super::server::Serving;
use crate::transcripts::{hold_each, run};

/// Steps that print otherwise through a server, with the reason.
const OTHERWISE: &[(&str, &str, &str)] = &[(
    "command/general",
    "db.runCommand({find: \"c\", comment: \"why\", lsid: {id: UUID(\"3b241101-e2bb-4255-8caf-4136c566a962\")}, $readPreference: {mode: \"primary\"}, apiVersion: \"1\", readConcern: {level: \"local\"}, maxTimeMS: 1000}).ok",
    "the driver adds a session of its own beside the one in the command",
)];

#[test]
fn transcripts_hold_through_the_driver() {
    hold_each(|transcript, complaints| {
        let server = Serving::start();
        let address = server.address("test");
        let rows: Vec<_> =
            OTHERWISE.iter().filter(|(name, _, _)| transcript.name.contains(name)).collect();
        let differs = |input: &str| rows.iter().any(|(_, row, _)| *row == input);
        let found = run(
            transcript,
            &transcript.blocks,
            &[&address],
            |step| differs(&step.input),
            complaints,
        );
        for (name, input, why) in rows {
            if !found.iter().any(|one| one == input) {
                complaints.push(format!("{name}: > {input}\nholds, though {why}"));
            }
        }
    });
}
