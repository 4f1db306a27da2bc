//! Why a figure cannot be drawn.

use flowsched_experiment::results::ResultsError;
use thiserror::Error;

/// Why a figure cannot be drawn.
#[derive(Debug, Error)]
pub enum DrawingError {
    /// The tables cannot be read.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// The tables have nothing to draw.
    #[error("\"{title}\" cannot be drawn: {problem}")]
    Lacks {
        /// The title of the drawing.
        title: String,
        /// Sentences that say what is missing, and what to do.
        problem: String,
    },
}

impl DrawingError {
    /// The error of a drawing whose title is not known here.
    pub(super) fn lacks(problem: String) -> DrawingError {
        DrawingError::Lacks { title: String::new(), problem }
    }

    /// The error with the title of the drawing.
    pub(super) fn of_drawing(self, title: &str) -> DrawingError {
        match self {
            DrawingError::Lacks { problem, .. } => {
                DrawingError::Lacks { title: title.to_owned(), problem }
            }
            error => error,
        }
    }
}
