// The classic getNextId over the seven arguments of DBCollection.findAndModify.

import com.mongodb.BasicDBObject;
import com.mongodb.DB;
import com.mongodb.DBCollection;
import com.mongodb.DBObject;
import com.mongodb.DuplicateKeyException;
import com.mongodb.MongoClient;
import com.mongodb.MongoClientURI;

public class NextId {
    static String getNextId(DB db, String name) {
        DBCollection sequences = db.getCollection("seq");
        DBObject find = new BasicDBObject("_id", name);
        DBObject update = new BasicDBObject("$inc", new BasicDBObject("seq", 1));
        DBObject found = sequences.findAndModify(find, null, null, false, update, true, true);
        return found.get("seq").toString();
    }

    public static void main(String[] arguments) {
        MongoClient client = new MongoClient(new MongoClientURI(arguments[0]));
        DB db = client.getDB("shop");
        System.out.println(getNextId(db, "users") + " " + getNextId(db, "users") + " " + getNextId(db, "posts"));
        DBCollection users = db.getCollection("users");
        for (int n = 0; n < 500; n++) {
            users.insert(new BasicDBObject("_id", n).append("name", "Sarah C."));
        }
        int sum = 0;
        for (DBObject user : users.find().batchSize(50)) {
            sum += (Integer) user.get("_id");
        }
        System.out.println(users.count() + " " + sum);
        try {
            users.insert(new BasicDBObject("_id", 1));
        } catch (DuplicateKeyException error) {
            System.out.println(error.getCode());
        }
        client.close();
    }
}
