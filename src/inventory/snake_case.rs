//! Converts names of programs to snake case.

/// Converts to lower case with an underscore before each word: `tensorParallelSize` becomes `tensor_parallel_size`.
/// Other characters stay.
pub(crate) fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    let mut was_small = false;
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && was_small {
            snake.push('_');
        }
        was_small = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}
