<?php
// The command `findandmodify`, as the first sequence documents on the web have it.
$manager = new MongoDB\Driver\Manager($argv[1]);

$write = new MongoDB\Driver\BulkWrite();
$write->insert(["_id" => "users", "seq" => 1]);
$manager->executeBulkWrite("shop.seq", $write);

function next_id(MongoDB\Driver\Manager $manager, string $name) {
    $command = new MongoDB\Driver\Command([
        "findandmodify" => "seq",
        "query" => ["_id" => $name],
        "update" => ['$inc' => ["seq" => 1]],
        "new" => true,
    ]);
    $reply = $manager->executeCommand("shop", $command)->toArray()[0];
    return $reply->value === null ? "null" : $reply->value->seq;
}

echo next_id($manager, "users"), " ", next_id($manager, "users"), " ", next_id($manager, "nobody"), "\n";
$count = $manager->executeQuery("shop.seq", new MongoDB\Driver\Query([]))->toArray();
echo count($count), "\n";
