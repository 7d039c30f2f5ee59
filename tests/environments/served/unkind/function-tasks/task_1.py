import requests


def verify(server_url):
    texts = [chore["text"] for chore in requests.get(f"{server_url}/api/state").json()["chores"]]
    return "Buy milk" in texts, f"The chores are {texts}."
