
mod terraform;
